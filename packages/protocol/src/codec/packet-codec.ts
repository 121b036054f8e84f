import { protocolError } from '../errors.ts'
import type { BodyCodec } from '../messages/codecs/body-codec.ts'
import { nodeInfo } from '../messages/codecs/contact.ts'
import { fetch, fetched, heads } from '../messages/codecs/gaps.ts'
import { close, fragment, hello, ping, pong, proof } from '../messages/codecs/link.ts'
import { attach, data, detach } from '../messages/codecs/node.ts'
import { instruction, leave, status } from '../messages/codecs/overlay.ts'
import { iceServers, signal, trackerError } from '../messages/codecs/signalling.ts'
import {
  awaitStored,
  findStorage,
  resend,
  resendCancel,
  resendData,
  resendEnd,
  resendMore,
  resendStart,
  storageNodes,
  stored,
  storing,
} from '../messages/codecs/storage.ts'
import { clockAsk, clockTell, traced } from '../messages/codecs/trace.ts'
import { PacketType, type Packet } from '../messages/packets.ts'
import { packetBytes } from './frame.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

type CodecTable = { readonly [P in Packet as P['type']]: BodyCodec<P> }

const codecs: CodecTable = {
  hello,
  proof,
  ping,
  pong,
  close,
  fragment,
  data,
  attach,
  detach,
  fetch,
  fetched,
  heads,
  traced,
  clockAsk,
  clockTell,
  nodeInfo,
  status,
  leave,
  instruction,
  signal,
  iceServers,
  trackerError,
  storing,
  findStorage,
  storageNodes,
  resend,
  resendStart,
  resendData,
  resendMore,
  resendEnd,
  resendCancel,
  awaitStored,
  stored,
}

const codecOfNumber: (BodyCodec<Packet> | undefined)[] = []
for (const kind of Object.keys(codecs) as Packet['type'][]) {
  codecOfNumber[PacketType[kind]] = codecs[kind]
}

const writer = new Writer()

/** The packet as it travels, header included. Throws LIMIT_EXCEEDED, or MALFORMED_PACKET for values that have no encoding. */
export function encodePacket(packet: Packet): Uint8Array {
  const type = PacketType[packet.type]
  if (packet.type === 'data') return packetBytes(type, packet.batch.bytes)
  const codec = codecs[packet.type] as BodyCodec<Packet>
  writer.reset()
  codec.write(writer, packet)
  return packetBytes(type, writer.view())
}

/**
 * The packet in a body. What it holds of bytes are views of `body`.
 * Throws MALFORMED_PACKET, LIMIT_EXCEEDED or UNSUPPORTED_VERSION, and nothing else, whatever the bytes.
 */
export function decodePacket(type: number, body: Uint8Array): Packet {
  const codec = codecOfNumber[type]
  if (codec === undefined) throw protocolError('MALFORMED_PACKET', `unknown packet type ${type}`)
  const reader = new Reader(body)
  const packet = codec.read(reader)
  reader.end()
  return packet
}
