import type { NodeId } from '@runnel/protocol'

export interface MemoryNetworkOptions {
  /** Same seed, same run. */
  readonly seed: string | number
  /** One way, in milliseconds; a function is asked once per link and direction. Default 1. */
  readonly latencyMs?: number | ((from: NodeId, to: NodeId) => number)
  /** Maximum added to the latency of a frame, uniformly distributed; the order is kept. Default 0. */
  readonly jitterMs?: number
  /** The part of frames that are lost, whole, as datagrams would be; a function is asked for each frame. Default 0. */
  readonly lossRate?: number | ((from: NodeId, to: NodeId) => number)
  /** The part of dials that fail. Default 0. */
  readonly connectFailureRate?: number
  /** Bandwidth of one direction of a link; a function is asked for each frame. Default unlimited. */
  readonly bytesPerMs?: number | ((from: NodeId, to: NodeId) => number)
  /** Bytes in flight and unread in one direction of a link; the rest waits with the sender. Default 1 MiB. */
  readonly windowBytes?: number
  /** The address that a node's bytes come from. Default none, as for a node on the same machine. */
  readonly addressOf?: (nodeId: NodeId) => string | undefined
}

export type MemoryNetworkSettings = Required<MemoryNetworkOptions>

/** What is wrong with a node, for an experiment. */
export interface NodeCondition {
  /** False: it takes nothing out of its channels, and senders see their buffers fill. */
  reading: boolean
  /** False: frames from and to it vanish, and dials to it hang. */
  online: boolean
}
