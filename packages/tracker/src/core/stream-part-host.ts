import type { Contact, Instruction, NodeId, StreamPartId } from '@runnel/protocol'
import type { TrackerLimits } from '../limits.ts'
import type { CounterName } from './counters.ts'
import type { Member } from './member.ts'

/** What the classes of a stream part need from the tracker. */
export interface StreamPartHost {
  readonly limits: TrackerLimits
  isConnected(id: NodeId): boolean
  contactOf(id: NodeId): Contact | undefined
  /** The network a node comes from; undefined when it is unknown. */
  networkOf(id: NodeId): string | undefined
  /** Whether the node publishes to the stream part, as far as is known. */
  publishes(part: StreamPartId, id: NodeId): boolean
  /** Whether to avoid an edge between the pair. Symmetric. */
  avoids(a: NodeId, b: NodeId): boolean
  /** The edge failed: avoid the pair for a while. */
  avoid(a: NodeId, b: NodeId): void
  /** The edge is no longer wanted: let signals pass for a while. */
  permitSignals(a: NodeId, b: NodeId): void
  /** Whether the node has left an offer for a neighbour that it is yet to be told of. */
  hasOpenOffer(id: NodeId): boolean
  /** Gives it to a neighbour, before either is told of the other. False when they can connect, or may be linked, in another way. */
  giveOpenOffer(from: NodeId, to: NodeId): boolean
  instruct(member: Member, instruction: Instruction): void
  /** Sends once: a node that misses it asks again. */
  send(id: NodeId, instruction: Instruction): void
  /** A status has answered the newest instruction, or the member left. */
  settle(member: Member): void
  count(name: CounterName, by?: number): void
}
