import type { Attach, Contact, Detach, NodeId, StreamId, StreamMessage, StreamPartId } from '@runnel/protocol'
import type { CounterName } from './counters.ts'

/**
 * What the core wants done, told while it handles an event. None of these may call back into the core before the event
 * is handled.
 */
export interface NodeEffects {
  connect(peerId: NodeId, contact: Contact): void
  disconnect(peerId: NodeId, code: 'MISBEHAVED' | 'UNUSED', text: string): void
  sendControl(peerId: NodeId, packet: Attach | Detach): void
  /** A whole data packet, as it came. */
  sendData(peerId: NodeId, packet: Uint8Array): void
  deliver(streamPartId: StreamPartId, message: StreamMessage, from: NodeId | undefined): void
  /** The attached neighbours changed. */
  neighbours(streamPartId: StreamPartId, neighbours: readonly NodeId[]): void
  /** The tracker should hear of the stream part: take the status when it can be sent. */
  statusDue(streamPartId: StreamPartId): void
  resolvePublisher(streamId: StreamId, publisherId: NodeId): void
  /** A counter of something dropped or refused grew. */
  dropped(counter: CounterName, detail: string): void
}
