import type { NodeId, StreamId, StreamPartId } from '@runnel/protocol'
import type { NodeToTracker } from '../../core/tracker-core.ts'

type PartPacket = Extract<NodeToTracker, { readonly streamPartId: StreamPartId }>

/** Of each kind of packet the last counts, of statuses one of the newest session: so there are at most four for a node and stream part. */
type Key = `${NodeId} ${PartPacket['type']} ${StreamPartId}`

interface HeldPacket {
  readonly from: NodeId
  readonly packet: PartPacket
}

/** Packets of streams of which it is not known yet whether they name trackers of their own. */
export class HeldPackets {
  readonly #streams = new Map<StreamId, Map<Key, HeldPacket>>()

  add(streamId: StreamId, from: NodeId, packet: PartPacket): void {
    const packets = this.#streams.get(streamId) ?? new Map<Key, HeldPacket>()
    this.#streams.set(streamId, packets)
    const key: Key = `${from} ${packet.type} ${packet.streamPartId}`
    if (isOlder(packet, packets.get(key)?.packet)) return
    // Last in the order as well: who leaves and joins again has joined.
    packets.delete(key)
    packets.set(key, { from, packet })
  }

  /** The packets of a stream, which is forgotten. */
  take(streamId: StreamId): HeldPacket[] {
    const packets = this.#streams.get(streamId)
    this.#streams.delete(streamId)
    return [...(packets?.values() ?? [])]
  }

  /** Whether packets of a node wait. */
  has(nodeId: NodeId): boolean {
    for (const packets of this.#streams.values())
      for (const { from } of packets.values()) if (from === nodeId) return true
    return false
  }

  /** The node is gone. */
  forget(nodeId: NodeId): void {
    for (const packets of this.#streams.values())
      for (const [key, { from }] of packets) if (from === nodeId) packets.delete(key)
  }
}

/** A status that another tracker relays may come after one that its node sent later. */
function isOlder(packet: PartPacket, held: PartPacket | undefined): boolean {
  return packet.type === 'status' && held?.type === 'status' && packet.session < held.session
}
