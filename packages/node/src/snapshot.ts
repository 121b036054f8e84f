import type { RpcStatus } from '@runnel/contracts'
import type { MessageRef, NodeId, StreamId, StreamPartId } from '@runnel/protocol'
import type { StreamPartMetrics } from '@runnel/network'
import type { StorageStatus } from '@runnel/storage'
import type { ChainTotals } from './plugins/observer/chain-account.ts'
import type { LatencySummary } from './plugins/observer/latency-histogram.ts'
import type { StreamsStatus } from './streams/streams-status.ts'

/** One publisher's messages in one stream part, as an observer saw them. */
export interface ObservedChain extends ChainTotals {
  readonly streamPartId: StreamPartId
  readonly publisherId: NodeId
  readonly messageChainId: string
}

/** What a publisher put into one stream. */
export interface PublishedTotals {
  readonly streamId: StreamId
  readonly messages: number
  readonly last: MessageRef | undefined
}

/** What a tracker is to a node. */
export interface TrackerState {
  readonly nodeId: NodeId
  readonly connected: boolean
}

/** What a node that publishes measurements says of them. Plain data. */
export interface MeasurementsStatus {
  readonly published: readonly PublishedTotals[]
}

/** What arrived of the streams that a node observes. Plain data. */
export interface ObserverStatus {
  readonly observed: readonly ObservedChain[]
  /** From the timestamp of a message to its delivery here; undefined before the first. */
  readonly latencyMs: LatencySummary | undefined
  /** Messages of chains beyond the limit. */
  readonly unaccounted: number
}

/** The status of each plugin by name, without those that are switched off. */
export interface PluginStatuses {
  readonly measurements?: MeasurementsStatus
  readonly observer?: ObserverStatus
  readonly storage?: StorageStatus
  /** Of other packages. */
  readonly [name: string]: unknown
}

/** How a broker node is doing: served at /v1/status and given to `runnel up`. Plain data. */
export interface NodeSnapshot {
  readonly nodeId: NodeId
  /** Of its process. */
  readonly pid: number
  /** Where others can dial it; undefined when they cannot. */
  readonly websocketUrl: string | undefined
  readonly cryptoBackend: string
  readonly uptimeMs: number
  readonly trackers: readonly TrackerState[]
  /** Whether another process with its key took its place: it left the network until it is restarted. */
  readonly isReplaced: boolean
  /** How each of several endpoints of the chain does. */
  readonly chainEndpoints: readonly RpcStatus[]
  /** The streams of its setting `streams`. */
  readonly streams: StreamsStatus
  /** Why it may not take part in the network; undefined when it may. */
  readonly admissionProblem: { readonly code: string; readonly message: string } | undefined
  /** How its clock is so wrong that other nodes refuse its messages; undefined while it is not, as far as is known. */
  readonly clockProblem: { readonly code: string; readonly message: string } | undefined
  readonly streamParts: readonly StreamPartMetrics[]
  readonly counters: Readonly<Record<string, number>>
  readonly plugins: PluginStatuses
}
