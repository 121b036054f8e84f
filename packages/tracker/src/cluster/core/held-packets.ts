import type { NodeId, StreamId, StreamPartId } from '@runnel/protocol'
import type { NodeToTracker } from '../../core/tracker-events.ts'

/** A packet of a node about a stream part. */
export type PartPacket = Extract<NodeToTracker, { readonly streamPartId: StreamPartId }>

/** Only the last packet of each kind counts, so there are at most five for a node and stream part. */
type Key = `${NodeId} ${PartPacket['type']} ${StreamPartId}`

interface HeldPacket {
  readonly from: NodeId
  readonly packet: PartPacket
}

/** Packets of streams for which it is not known yet whether they name trackers of their own. */
export class HeldPackets {
  readonly #streams = new Map<StreamId, Map<Key, HeldPacket>>()

  add(streamId: StreamId, from: NodeId, packet: PartPacket): void {
    const packets = this.#streams.get(streamId) ?? new Map<Key, HeldPacket>()
    this.#streams.set(streamId, packets)
    const key: Key = `${from} ${packet.type} ${packet.streamPartId}`
    // Moved to the end of the order as well: a node that leaves and joins again has joined.
    packets.delete(key)
    packets.set(key, { from, packet })
  }

  /** Removes and returns the packets of a stream. */
  take(streamId: StreamId): HeldPacket[] {
    const packets = this.#streams.get(streamId)
    this.#streams.delete(streamId)
    return [...(packets?.values() ?? [])]
  }

  /** The node disconnected. */
  forget(nodeId: NodeId): void {
    for (const packets of this.#streams.values())
      for (const [key, { from }] of packets) if (from === nodeId) packets.delete(key)
  }
}
