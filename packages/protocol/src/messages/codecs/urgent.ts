import { maxU32 } from '../../codec/fields.ts'
import { packetBytes } from '../../codec/frame.ts'
import { Reader, withinLimit } from '../../codec/reader.ts'
import { Writer } from '../../codec/writer.ts'
import { protocolError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { decodeBatch } from '../batch-codec.ts'
import type { Arrivals, Mark, Piece } from '../packets/link.ts'
import type { Urgent, UrgentDigest, UrgentPlace, UrgentPull } from '../packets/flooding.ts'
import { urgentMessageOf } from '../urgent.ts'
import type { BodyCodec } from './body-codec.ts'
import { readPlace, readPlaces, writePlace, writePlaces } from './places.ts'

/** The number of urgent packets. */
export const urgentPacketNumber = 0x40

export const urgent: BodyCodec<Urgent> = {
  write(writer, packet) {
    writer.varint(packet.remainingMs, limits.maxUrgentLifetimeMs)
    writer.varint(noAlias)
    writer.raw(packet.batch.bytes)
  },
  read(reader) {
    const { remainingMs, alias, bytes } = readParts(reader)
    // Whoever has the link puts the header in its place.
    if (alias !== noAlias) throw protocolError('MALFORMED_PACKET', `the alias ${alias} outside of its link`)
    const batch = decodeBatch(bytes)
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

export const mark: BodyCodec<Mark> = {
  write: (writer, packet) => writer.varint(packet.number, maxU32),
  read: (reader) => ({ type: 'mark', number: reader.varint(maxU32) }),
}

/** Numbers go up; times are said as differences, of which some are negative, as 0, −1, 1, −2, 2… */
export const arrivals: BodyCodec<Arrivals> = {
  write(writer, { heldTenthsMs, frames }) {
    writer.varint(heldTenthsMs, maxU32)
    writer.count(frames.length, limits.maxArrivals, 'arrivals')
    let before = { number: 0, atTenthsMs: 0 }
    for (const frame of frames) {
      writer.varint(frame.number - before.number, maxU32)
      const later = frame.atTenthsMs - before.atTenthsMs
      writer.varint(later < 0 ? -2 * later - 1 : 2 * later)
      before = frame
    }
  },
  read(reader) {
    const heldTenthsMs = reader.varint(maxU32)
    const count = reader.count(limits.maxArrivals, 'arrivals')
    let [number, atTenthsMs] = [0, 0]
    const frames = Array.from({ length: count }, (_, index) => {
      const gap = reader.varint(maxU32)
      if (index > 0 && gap === 0) throw protocolError('MALFORMED_PACKET', 'an arrival twice')
      const later = reader.varint(maxArrivalTenthsMs)
      number += gap
      atTenthsMs += later % 2 === 1 ? -(later + 1) / 2 : later / 2
      if (number > maxU32 || atTenthsMs < 0) throw protocolError('MALFORMED_PACKET', 'an arrival at no time')
      return { number, atTenthsMs }
    })
    return { type: 'arrivals', heldTenthsMs, frames }
  },
}

/** Largest time between two arrivals, doubled for the sign: 50 years. */
const maxArrivalTenthsMs = 35_184_372_088_832

export const urgentDigest: BodyCodec<UrgentDigest> = {
  write: (writer, { entries }) =>
    writePlaces(writer, entries, (to, entry, before) => {
      writeUrgentPlace(to, entry, before)
      to.u32(entry.check)
    }),
  read: (reader) => ({
    type: 'urgentDigest',
    entries: readPlaces(reader, (from, before) => ({ ...readUrgentPlace(from, before), check: from.u32() })),
  }),
}

export const urgentPull: BodyCodec<UrgentPull> = {
  write: (writer, { entries }) => writePlaces(writer, entries, writeUrgentPlace),
  read: (reader) => ({ type: 'urgentPull', entries: readPlaces(reader, readUrgentPlace) }),
}

function writeUrgentPlace(writer: Writer, place: UrgentPlace, before: number): void {
  writer.varint(place.alias, maxU32)
  writePlace(writer, place, before)
}

const readUrgentPlace = (reader: Reader, before: number): UrgentPlace => ({
  alias: reader.varint(maxU32),
  ...readPlace(reader, before),
})

/** The alias of an urgent packet whose batch is whole, and no other's. */
const noAlias = 0

/** What an urgent packet is made of, on a link. */
export interface UrgentParts {
  readonly remainingMs: number
  /** The number that stands for a header on this link; 0 for none. */
  readonly alias: number
  /** How many of the bytes are the header that the alias stands for from now on; 0 where they are what follows it. */
  readonly headerBytes: number
  readonly bytes: Uint8Array
}

const bodies = new Writer()

/** The packet of an urgent batch that travels on as it came. Throws LIMIT_EXCEEDED. */
export function urgentPacket(remainingMs: number, batchBytes: Uint8Array): Uint8Array {
  return aliasedUrgentPacket({ remainingMs, alias: noAlias, headerBytes: 0, bytes: batchBytes })
}

/** The same, or with an alias for its header, or the alias in place of it. Throws LIMIT_EXCEEDED. */
export function aliasedUrgentPacket({ remainingMs, alias, headerBytes, bytes }: UrgentParts): Uint8Array {
  bodies.reset()
  bodies.varint(remainingMs, limits.maxUrgentLifetimeMs)
  bodies.varint(alias, maxU32)
  if (alias !== noAlias) bodies.varint(headerBytes, limits.maxUrgentHeaderBytes)
  withinLimit(bytes.length, limits.maxUrgentBatchBytes, 'bytes of an urgent batch')
  bodies.raw(bytes)
  return packetBytes(urgentPacketNumber, bodies.view())
}

/** Takes the body of an urgent packet apart, without looking at the batch. Throws MALFORMED_PACKET and LIMIT_EXCEEDED. */
export const readUrgentParts = (body: Uint8Array): UrgentParts => readParts(new Reader(body))

function readParts(reader: Reader): UrgentParts {
  const remainingMs = reader.varint(limits.maxUrgentLifetimeMs)
  const alias = reader.varint(maxU32)
  const headerBytes = alias === noAlias ? 0 : reader.varint(limits.maxUrgentHeaderBytes)
  withinLimit(reader.remaining, limits.maxUrgentBatchBytes, 'bytes of an urgent batch')
  if (headerBytes > reader.remaining)
    throw protocolError('MALFORMED_PACKET', 'a header longer than its batch')
  return { remainingMs, alias, headerBytes, bytes: reader.rest() }
}
