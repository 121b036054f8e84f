import { encodePacket, forEachPacket, type RawPacket } from '@runnel/protocol'
import { transportError } from '../errors.ts'

/** More than the header of any fragment packet: type, length of at most three bytes, flag. */
const fragmentOverheadBytes = 8

/** The fragment packets that carry `packet`, each of at most `maxFrameBytes`. */
export function splitPacket(packet: Uint8Array, maxFrameBytes: number): Uint8Array[] {
  const pieceBytes = maxFrameBytes - fragmentOverheadBytes
  const fragments: Uint8Array[] = []
  for (let start = 0; start < packet.length; start += pieceBytes) {
    const end = Math.min(start + pieceBytes, packet.length)
    const bytes = packet.subarray(start, end)
    fragments.push(encodePacket({ type: 'fragment', last: end === packet.length, bytes }))
  }
  return fragments
}

/** Of every connection that is not in the middle of a packet. */
const nothing = new Uint8Array(0)

/**
 * Puts fragments together again, one packet at a time. It holds at most `maxPacketBytes`, however small the pieces are.
 */
export class Reassembler {
  readonly #maxPacketBytes: number
  #buffer: Uint8Array = nothing
  #length = 0

  constructor(maxPacketBytes: number) {
    this.#maxPacketBytes = maxPacketBytes
  }

  /** True between the first and the last fragment of a packet: nothing else may come then. */
  get busy(): boolean {
    return this.#length > 0
  }

  /** Takes a fragment; returns the packet with its last. Throws FRAME_TOO_LARGE, PROTOCOL_VIOLATION and what framing throws. */
  push(bytes: Uint8Array, last: boolean): RawPacket | undefined {
    this.#reserve(this.#length + bytes.length)
    this.#buffer.set(bytes, this.#length)
    this.#length += bytes.length
    if (!last) return undefined
    const whole = this.#buffer.subarray(0, this.#length)
    this.#buffer = nothing
    this.#length = 0
    return onlyPacket(whole)
  }

  #reserve(length: number): void {
    if (length > this.#maxPacketBytes)
      throw transportError('FRAME_TOO_LARGE', `a packet of more than ${this.#maxPacketBytes} bytes`)
    if (length <= this.#buffer.length) return
    const larger = new Uint8Array(Math.min(this.#maxPacketBytes, Math.max(length, 2 * this.#buffer.length)))
    larger.set(this.#buffer.subarray(0, this.#length))
    this.#buffer = larger
  }
}

function onlyPacket(bytes: Uint8Array): RawPacket {
  const packets: RawPacket[] = []
  forEachPacket(bytes, (type, body, whole) => {
    if (packets.length > 0)
      throw transportError('PROTOCOL_VIOLATION', 'several packets in one set of fragments')
    packets.push({ type, body, whole })
  })
  return packets[0] as RawPacket
}
