import type { NodeId } from '@runnel/protocol'
import type { PooledChannel } from '@runnel/transport'

/** Events of a cluster's network. */
export interface ClusterNetworkEvents {
  /** A registered tracker is connected. */
  onLinked(tracker: NodeId): void
  onUnlinked(tracker: NodeId): void
  /** A peer without a registered key was refused. */
  onStranger(id: string): void
  /** A circuit over another tracker leads here, or on by `onward`. */
  onCircuit(channel: PooledChannel, onward: PooledChannel | undefined): void
  /** A record from the hash table, before it is stored or used. Throws to refuse it. */
  onRecord(key: Uint8Array, value: Uint8Array): void
}

/** Authenticated links to other trackers, and the distributed hash table over them. */
export interface ClusterNetwork {
  readonly peerId: string
  /** Where other trackers can dial this one. */
  readonly addresses: readonly string[]
  /** Resolves when the tracker is connected. Rejects when it cannot be reached, or another peer answers. */
  dial(tracker: NodeId, addresses: readonly string[], signal: AbortSignal): Promise<void>
  /** Closes the link to a tracker, if there is one. */
  hangUp(tracker: NodeId): void
  /** Opens a circuit over the first tracker of `path` to the last. Rejects with CIRCUIT_UNAVAILABLE. */
  openCircuit(path: readonly NodeId[]): Promise<PooledChannel>
  /** Puts a record into the hash table; resolves to the number of other trackers that accepted it. */
  put(key: Uint8Array, value: Uint8Array, signal: AbortSignal): Promise<number>
  /** The first valid record that any tracker has. */
  get(key: Uint8Array, signal: AbortSignal): Promise<Uint8Array | undefined>
  stop(): Promise<void>
}
