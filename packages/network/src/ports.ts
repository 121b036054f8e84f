import type {
  Contact,
  IceServer,
  NodeId,
  RunnelError,
  Signal,
  StreamId,
  StreamMessage,
  StreamPartId,
} from '@runnel/protocol'
import type { Transport } from '@runnel/transport'

/** May this publisher publish? Answers come from a registry, through whoever embeds the node; never from here. */
export interface PublisherPolicy {
  /** Synchronous and cheap: 'unknown' makes the node ask `resolve` and hold the message (bounded) until it knows. */
  check(streamId: StreamId, publisherId: NodeId, nowMs: number): 'allowed' | 'denied' | 'unknown'
  /** Finds out; afterwards `check` gives an answer, or the promise is rejected and the held messages are dropped and counted. */
  resolve(streamId: StreamId, publisherId: NodeId): Promise<void>
}

/** A tracker as found in a registry. */
export interface TrackerAddress {
  readonly nodeId: NodeId
  readonly url: string
}

/** Which tracker serves which stream part; may change while running. */
export interface TrackerDirectory {
  /** In order of preference; empty when none is known. */
  trackersFor(streamPartId: StreamPartId): readonly TrackerAddress[]
  /** Calls back when an answer may have changed. */
  onChange(listener: () => void): () => void
}

/** A transport whose links are opened by signalling. */
export interface SignalledTransport extends Transport {
  /** A signal as a tracker relayed it: `peerId` is the sender. */
  handleSignal(signal: Signal): void
  setIceServers(servers: readonly IceServer[]): void
}

/**
 * The transports of a node. Trackers are dialled over `websocket`, or over `memory` where there is none; the node starts
 * and stops them all.
 */
export interface NodeTransports {
  readonly websocket?: Transport
  readonly webrtc?: SignalledTransport
  readonly memory?: Transport
}

/** A message given to the application. */
export interface Delivery {
  readonly streamPartId: StreamPartId
  readonly message: StreamMessage
  /** Who it came from; undefined for the node's own. */
  readonly from: NodeId | undefined
}

export interface StreamPartMetrics {
  readonly streamPartId: StreamPartId
  readonly neighbours: readonly {
    readonly nodeId: NodeId
    readonly transport: string
    readonly rttMs: number | undefined
  }[]
  readonly wantedNeighbours: number
  readonly delivered: number
  readonly duplicates: number
  readonly published: number
}

/** What an embedding application hears from its node. */
export interface NodeEvents {
  message: (delivery: Delivery) => void
  /** The set of attached neighbours of a joined stream part changed. */
  neighbours: (streamPartId: StreamPartId, neighbours: readonly NodeId[]) => void
  tracker: (trackerId: NodeId, state: 'connected' | 'disconnected', error?: RunnelError) => void
  /** Something was dropped or refused; `counter` is the name of the metric that grew. */
  dropped: (counter: string, detail: string) => void
}

/** The embeddable node. */
export interface NetworkNode {
  readonly nodeId: NodeId
  readonly contact: Contact
  start(): Promise<void>
  stop(): Promise<void>
  join(streamPartId: StreamPartId): void
  leave(streamPartId: StreamPartId): void
  readonly streamParts: readonly StreamPartId[]
  /** Resolves when the stream part has at least `count` attached neighbours (default 1). */
  waitForNeighbours(
    streamPartId: StreamPartId,
    options?: { count?: number; signal?: AbortSignal },
  ): Promise<void>
  /**
   * Floods a batch this process signed. Joins are not implied. False when every neighbour's queue is above its high mark:
   * the batch is sent all the same, but wait for `writable` before the next.
   */
  publish(batchBytes: Uint8Array): boolean
  /** Resolves when at least one neighbour can take more. */
  writable(streamPartId: StreamPartId, signal?: AbortSignal): Promise<void>
  on<E extends keyof NodeEvents>(event: E, listener: NodeEvents[E]): () => void
  metrics(): {
    readonly counters: Readonly<Record<string, number>>
    readonly streamParts: readonly StreamPartMetrics[]
  }
}
