import { isSameBytes, type MessageBatch } from '@runnel/protocol'

/** A data packet, and its batch as a view of it. */
export interface DataPacket {
  readonly packet: Uint8Array
  readonly batch: MessageBatch
}

/** How many are remembered at most: copies come within milliseconds. */
const maxPackets = 32
/** The largest batch that is remembered. */
const maxRememberedBytes = 2_048

/** Data packets that came of late: copies of them, which other neighbours bring, need not be copied and decoded again. */
export class RecentPackets {
  /** Each at the place that a byte of its signature says; a later one replaces it. */
  readonly #packets: (DataPacket | undefined)[] = []

  /** The one whose batch has these bytes. */
  find(batchBytes: Uint8Array): DataPacket | undefined {
    const known = this.#packets[placeOf(batchBytes)]
    return known !== undefined && isSameBytes(known.batch.bytes, batchBytes) ? known : undefined
  }

  add(packet: DataPacket): void {
    const { bytes } = packet.batch
    if (bytes.length <= maxRememberedBytes) this.#packets[placeOf(bytes)] = packet
  }
}

/** By the last byte of s: behind it comes v, which has two values. */
const placeOf = (bytes: Uint8Array): number => (bytes[bytes.length - 2] ?? 0) % maxPackets
