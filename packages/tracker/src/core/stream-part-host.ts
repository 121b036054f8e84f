import type { Contact, Instruction, NodeId } from '@runnel/protocol'
import type { TrackerLimits } from '../limits.ts'
import type { CounterName } from './counters.ts'
import type { Member } from './member.ts'
import type { StreamPart } from './stream-part.ts'

/** What a stream part needs of the tracker around it. */
export interface StreamPartHost {
  readonly limits: TrackerLimits
  isConnected(id: NodeId): boolean
  contactOf(id: NodeId): Contact | undefined
  /** Where a node comes from; all of which that is not known are as of one network. */
  networkOf(id: NodeId): string
  /** Whether the pair should rather not be connected. Symmetric. */
  avoids(a: NodeId, b: NodeId): boolean
  /** The edge failed: avoid the pair for a while. */
  avoid(a: NodeId, b: NodeId): void
  /** The edge is no longer wanted: let signals pass for a while. */
  permitSignals(a: NodeId, b: NodeId): void
  instruct(member: Member, instruction: Instruction): void
  /** A status has answered the newest instruction, or the member is gone. */
  settle(member: Member): void
  /** A node of a replica counts as in this stream part until it should have reported. False when there are too many nodes. */
  expect(part: StreamPart, id: NodeId, contact: Contact): boolean
  /** The node is no longer in this stream part. */
  onRemoved(part: StreamPart, id: NodeId): void
  count(name: CounterName, by?: number): void
}
