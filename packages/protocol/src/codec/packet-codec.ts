import { protocolError } from '../errors.ts'
import type { BodyCodec } from '../messages/codecs/body-codec.ts'
import {
  packetKind,
  packetTable,
  type Packet,
  type PacketOf,
  type PacketScope,
} from '../messages/packet-table.ts'
import { packetBytes } from './frame.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

const writer = new Writer()

/** The packet as it travels, header included. Throws LIMIT_EXCEEDED, or MALFORMED_PACKET for values that have no encoding. */
export function encodePacket(packet: Packet): Uint8Array {
  const { number, codec } = packetTable[packet.type]
  if (packet.type === 'data') return packetBytes(number, packet.batch.bytes)
  writer.reset()
  ;(codec as BodyCodec<Packet>).write(writer, packet)
  return packetBytes(number, writer.view())
}

/**
 * The packet in a body. What it holds of bytes are views of `body`.
 * Throws MALFORMED_PACKET, LIMIT_EXCEEDED or UNSUPPORTED_VERSION, and nothing else, whatever the bytes.
 */
export function decodePacket(type: number, body: Uint8Array): Packet {
  const kind = packetKind(type)
  if (kind === undefined) throw protocolError('MALFORMED_PACKET', `unknown packet type ${type}`)
  const reader = new Reader(body)
  const packet = kind.codec.read(reader) as Packet
  reader.end()
  return packet
}

/** As `decodePacket`, of packets of these scopes; undefined for all others, which are not decoded. */
export function decodePacketOf<S extends PacketScope>(
  scopes: readonly S[],
  type: number,
  body: Uint8Array,
): PacketOf<S> | undefined {
  const scope = packetKind(type)?.scope
  const isOneOf = scope !== undefined && (scopes as readonly PacketScope[]).includes(scope)
  return isOneOf ? (decodePacket(type, body) as PacketOf<S>) : undefined
}
