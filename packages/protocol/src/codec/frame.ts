import { protocolError } from '../errors.ts'
import { limits } from '../limits.ts'
import { plainBytes, Reader, withinLimit } from './reader.ts'

/** One packet of a frame, not yet decoded. Both byte strings are views of the frame. */
export interface RawPacket {
  readonly type: number
  readonly body: Uint8Array
  /** The packet with its header: what is forwarded. */
  readonly whole: Uint8Array
}

/** The largest packet body: a batch with the number of the request that it answers. */
export const maxPacketBodyBytes = limits.maxBatchBytes + 4
/** The largest packet, its header included. */
export const maxPacketBytes = 1 + varintBytes(maxPacketBodyBytes) + maxPacketBodyBytes

/** The bytes a varint takes. */
export function varintBytes(value: number): number {
  let length = 1
  for (let left = value; left >= 0x80; left = Math.floor(left / 128)) length++
  return length
}

/**
 * Calls `visit` for each packet of a frame, in order. A frame is one or more packets back to back.
 * Throws MALFORMED_PACKET or LIMIT_EXCEEDED where the frame goes wrong; packets before that place have been visited.
 */
export function forEachPacket(
  frame: Uint8Array,
  visit: (type: number, body: Uint8Array, whole: Uint8Array) => void,
): void {
  const reader = new Reader(frame)
  if (reader.remaining === 0) throw protocolError('MALFORMED_PACKET', 'an empty frame')
  while (reader.remaining > 0) {
    const start = reader.offset
    const type = reader.u8()
    const body = reader.view(reader.count(maxPacketBodyBytes, 'bytes of a packet body'))
    visit(type, body, reader.bytes.subarray(start, reader.offset))
  }
}

/** The packets of a frame. Throws as `forEachPacket`, and then returns none. */
export function readPackets(frame: Uint8Array): RawPacket[] {
  const packets: RawPacket[] = []
  forEachPacket(frame, (type, body, whole) => packets.push({ type, body, whole }))
  return packets
}

/** A whole packet: type, length, body. Throws LIMIT_EXCEEDED when the body is too large. */
export function packetBytes(type: number, body: Uint8Array): Uint8Array {
  const length = withinLimit(body.length, maxPacketBodyBytes, 'bytes of a packet body')
  const headerBytes = 1 + varintBytes(length)
  const packet = new Uint8Array(headerBytes + length)
  packet[0] = type
  let left = length
  for (let i = 1; i < headerBytes; i++) {
    packet[i] = (left & 0x7f) | (i < headerBytes - 1 ? 0x80 : 0)
    left >>>= 7
  }
  packet.set(plainBytes(body), headerBytes)
  return packet
}
