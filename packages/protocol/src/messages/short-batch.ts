import { maxU32 } from '../codec/fields.ts'
import { packetBytes, readPackets } from '../codec/frame.ts'
import { Reader } from '../codec/reader.ts'
import { Writer } from '../codec/writer.ts'
import { protocolError } from '../errors.ts'
import { readTraced } from './codecs/trace.ts'
import { PacketType } from './packet-table.ts'

/** What stands for the header of a batch. */
export interface ShortHeader {
  /** The receiver's for the chain. */
  readonly alias: number
  /** Of the header that it replaces. */
  readonly headerBytes: number
}

/** The first byte of a batch without its header: no version has this number. */
const aliasedVersion = 0

const writer = new Writer()

/** A data or traced packet with an alias in place of the header of its batch. The packet is not checked. */
export function shortPacket(packet: Uint8Array, { alias, headerBytes }: ShortHeader): Uint8Array {
  const [raw] = readPackets(packet)
  if (raw === undefined) throw protocolError('MALFORMED_PACKET', 'no packet')
  const { type, body } = raw
  const batchBytes = type === PacketType.traced ? readTraced(body).batchBytes : body
  writer.reset()
  writer.raw(body.subarray(0, body.length - batchBytes.length))
  writer.u8(aliasedVersion)
  writer.varint(alias, maxU32)
  writer.raw(batchBytes.subarray(headerBytes))
  return packetBytes(type, writer.view())
}

/**
 * Puts the header back where an alias stands for it; bytes that have theirs are returned as they are. Undefined when the alias is unknown.
 * Throws MALFORMED_PACKET.
 */
export function wholeBatch(
  bytes: Uint8Array,
  headerOf: (alias: number) => Uint8Array | undefined,
): Uint8Array | undefined {
  if (bytes[0] !== aliasedVersion) return bytes
  const reader = new Reader(bytes)
  reader.skip(1)
  const header = headerOf(reader.varint(maxU32))
  if (header === undefined) return undefined
  const rest = reader.rest()
  const whole = new Uint8Array(header.length + rest.length)
  whole.set(header)
  whole.set(rest, header.length)
  return whole
}
