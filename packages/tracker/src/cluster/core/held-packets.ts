import type { NodeId, StreamId, StreamPartId } from '@runnel/protocol'
import type { NodeToTracker } from '../../core/tracker-core.ts'

type PartPacket = Extract<NodeToTracker, { readonly streamPartId: StreamPartId }>

/** Of each kind of packet the newest counts: so there are at most four for a node and stream part. */
type Key = `${NodeId} ${PartPacket['type']} ${StreamPartId}`

/** Packets of streams of which it is not known yet whether they name trackers of their own. */
export class HeldPackets {
  readonly #streams = new Map<StreamId, Map<Key, { readonly from: NodeId; readonly packet: PartPacket }>>()

  add(streamId: StreamId, from: NodeId, packet: PartPacket): void {
    const packets = this.#streams.get(streamId) ?? new Map()
    packets.set(`${from} ${packet.type} ${packet.streamPartId}`, { from, packet })
    this.#streams.set(streamId, packets)
  }

  /** The packets of a stream, which is forgotten. */
  take(streamId: StreamId): { readonly from: NodeId; readonly packet: PartPacket }[] {
    const packets = this.#streams.get(streamId)
    this.#streams.delete(streamId)
    return [...(packets?.values() ?? [])]
  }

  /** The node is gone. */
  forget(nodeId: NodeId): void {
    for (const packets of this.#streams.values())
      for (const [key, { from }] of packets) if (from === nodeId) packets.delete(key)
  }
}
