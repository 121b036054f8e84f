import { maxU32 } from '../../codec/fields.ts'
import { packetBytes } from '../../codec/frame.ts'
import { withinLimit } from '../../codec/reader.ts'
import { Writer } from '../../codec/writer.ts'
import { protocolError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { decodeBatch } from '../batch-codec.ts'
import type { Piece, Urgent } from '../packets.ts'
import { urgentMessageOf } from '../urgent.ts'
import type { BodyCodec } from './body-codec.ts'

/** The number of urgent packets. */
export const urgentPacketNumber = 0x40

export const urgent: BodyCodec<Urgent> = {
  write(writer, packet) {
    writer.varint(packet.remainingMs, limits.maxUrgentLifetimeMs)
    writer.raw(packet.batch.bytes)
  },
  read(reader) {
    const remainingMs = reader.varint(limits.maxUrgentLifetimeMs)
    withinLimit(reader.remaining, limits.maxUrgentBatchBytes, 'bytes of an urgent batch')
    const batch = decodeBatch(reader.rest())
    const lifetimeMs = urgentMessageOf(batch)?.fields.lifetimeMs
    if (lifetimeMs === undefined) throw protocolError('MALFORMED_PACKET', 'a batch that is not urgent')
    if (remainingMs > lifetimeMs)
      throw protocolError('MALFORMED_PACKET', `${remainingMs} ms left of ${lifetimeMs}`)
    return { type: 'urgent', remainingMs, batch }
  },
}

export const piece: BodyCodec<Piece> = {
  write(writer, packet) {
    writer.varint(packet.object, maxU32)
    writer.varint(packet.index, limits.maxPieces - 1)
    writer.varint(packet.count, limits.maxPieces)
    writer.varint(packet.remainingMs, limits.maxUrgentLifetimeMs)
    writer.raw(packet.bytes)
  },
  read(reader) {
    const object = reader.varint(maxU32)
    const index = reader.varint(limits.maxPieces - 1)
    const count = reader.varint(limits.maxPieces)
    const remainingMs = reader.varint(limits.maxUrgentLifetimeMs)
    if (index >= count) throw protocolError('MALFORMED_PACKET', `piece ${index} of ${count}`)
    if (reader.remaining === 0) throw protocolError('MALFORMED_PACKET', 'an empty piece')
    return { type: 'piece', object, index, count, remainingMs, bytes: reader.rest() }
  },
}

const bodies = new Writer()

/** The packet of an urgent batch that travels on as it came. Throws LIMIT_EXCEEDED. */
export function urgentPacket(remainingMs: number, batchBytes: Uint8Array): Uint8Array {
  bodies.reset()
  bodies.varint(remainingMs, limits.maxUrgentLifetimeMs)
  withinLimit(batchBytes.length, limits.maxUrgentBatchBytes, 'bytes of an urgent batch')
  bodies.raw(batchBytes)
  return packetBytes(urgentPacketNumber, bodies.view())
}
