import type {
  Contact,
  ControlPacket,
  Delegation,
  DelegationRef,
  DetachReason,
  Latest,
  MessageBatch,
  NodeId,
  PermissionScope,
  ShortHeader,
  StreamMessage,
  StreamPartId,
  UrgentMessage,
} from '@runnel/protocol'
import type { Equivocation, Gap, WithheldMessages } from '../ports.ts'
import type { CounterName } from './counters.ts'

/** How a copy of a batch goes to a neighbour. */
export interface CopyWay {
  /** Others bring it when the link does not. */
  readonly mayLose: boolean
  /** Where the neighbour knows the header by an alias. */
  readonly short?: ShortHeader | undefined
}

export const reliably: CopyWay = { mayLose: false }

/**
 * What overlays want done, called while they handle an event; `NodeEffect` explains each. None of these may call back before
 * the event is handled.
 */
export interface OverlayEffects {
  /** `alone`: the peer was not told to connect too. `again`: what was signalled before may have been lost. */
  connect(peerId: NodeId, contact: Contact, alone: boolean, again?: boolean): void
  disconnect(peerId: NodeId, code: 'MISBEHAVED' | 'UNUSED', text: string): void
  /** `mayLose`: it is of no use late, or is asked for again, and need not arrive. */
  sendControl(peerId: NodeId, packet: ControlPacket, mayLose?: boolean): void
  /** A whole data packet, as it came, and the delegation that it is signed under. By default it goes whole and arrives. */
  sendData(peerId: NodeId, packet: Uint8Array, delegationRef?: DelegationRef, way?: CopyWay): void
  /** An urgent message, and the delegation that it is signed under. */
  sendUrgent(peerId: NodeId, message: UrgentMessage, delegationRef?: DelegationRef): void
  /** A batch was taken; what is new in it is delivered next. Or it counts in place of one that was taken before. */
  accepted(streamPartId: StreamPartId, batch: MessageBatch): void
  /** A batch came whose messages were all seen already. */
  duplicate(streamPartId: StreamPartId, batch: MessageBatch): void
  /** A publisher was proven to have signed two messages for one place. */
  equivocation(equivocation: Equivocation): void
  /** `urgentBatch`: of an urgent message. */
  deliver(
    streamPartId: StreamPartId,
    message: StreamMessage,
    from: NodeId | undefined,
    urgentBatch?: MessageBatch,
  ): void
  /** No neighbour has it: ask the archive, and send `archiveEnded` once it has sent what it has. */
  fillFromArchive(gap: Gap): void
  /** A gap was given up: delivery continues after it. */
  gapLost(gap: Gap): void
  /** A neighbour told the newest message of a key; nothing of it is checked. */
  latest(peerId: NodeId, packet: Latest): void
  /** The attached neighbours changed, or there is nobody to be one. */
  neighbours(streamPartId: StreamPartId, neighbours: readonly NodeId[]): void
  /** Guests want to be served in a stream part that is not joined; or none has for a while. */
  guestPart(streamPartId: StreamPartId, isWanted: boolean): void
  /** A host does not serve this light node in a stream part, or no longer. */
  hostRefused(streamPartId: StreamPartId, peerId: NodeId, reason: DetachReason): void
  /** A host did not bring what others did, and says that it does not have it. */
  withheld(withheld: WithheldMessages): void
  /** A host brings what others bring much later, or nothing. */
  hostFails(peerId: NodeId, how: 'slow' | 'silent'): void
  /** The tracker should hear of the stream part: take the status when it can be sent, before others where a neighbour was lost. */
  statusDue(streamPartId: StreamPartId, lostNeighbour?: boolean): void
  /** `from` acts for the user. */
  resolveReader(scope: PermissionScope, userId: NodeId, from: NodeId, delegation?: Delegation): void
  /** `from` brought what it signed. */
  resolvePublisher(
    scope: PermissionScope,
    publisherId: NodeId,
    from: NodeId | undefined,
    delegation?: Delegation,
  ): void
  /** There was a fault in the work of a stream part: it is left, and rests. Nothing of it is shared with others. */
  partFailed(streamPartId: StreamPartId, error: unknown): void
  /** Its rest is over: it takes part again. */
  partRested(streamPartId: StreamPartId): void
  /** A counter of dropped or refused items grew. */
  dropped(counter: CounterName, detail: string): void
}
