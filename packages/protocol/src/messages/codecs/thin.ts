import { maxU32, readStreamPart, readWord, writeStreamPart, writeWord } from '../../codec/fields.ts'
import type { Reader } from '../../codec/reader.ts'
import type { Writer } from '../../codec/writer.ts'
import { protocolError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { floodModes, type Digest, type DigestEntry, type Thin } from '../packets/flooding.ts'
import type { BodyCodec } from './body-codec.ts'
import { readChainId, writeChainId } from './chain-head.ts'
import { readPlace, readPlaces, writePlace, writePlaces } from './places.ts'

export const thin: BodyCodec<Thin> = {
  write(writer, packet) {
    writeStreamPart(writer, packet.streamPartId)
    writeChainId(writer, packet)
    writer.varint(packet.alias, maxU32)
    writeWord(writer, floodModes, packet.mode, 'flood mode')
    writer.varint(packet.forMs, limits.maxThinMs)
  },
  read: (reader) => ({
    type: 'thin',
    streamPartId: readStreamPart(reader),
    ...readChainId(reader),
    alias: reader.varint(maxU32),
    mode: readWord(reader, floodModes, 'flood mode'),
    forMs: reader.varint(limits.maxThinMs),
  }),
}

/** Twice the alias, and one more where it is the sender's. */
function writeAlias(writer: Writer, { alias, isSenders }: DigestEntry): void {
  if (alias > maxU32) throw protocolError('MALFORMED_PACKET', `an alias of ${alias}`)
  writer.varint(alias * 2 + (isSenders ? 1 : 0))
}

function writeEntry(writer: Writer, entry: DigestEntry, before: number): void {
  writeAlias(writer, entry)
  writePlace(writer, entry, before)
  writer.u32(entry.check)
}

function readEntry(reader: Reader, before: number): DigestEntry {
  const both = reader.varint(2 * maxU32 + 1)
  const alias = Math.floor(both / 2)
  return { alias, isSenders: both % 2 === 1, ...readPlace(reader, before), check: reader.u32() }
}

export const digest: BodyCodec<Digest> = {
  write: (writer, { entries }) => writePlaces(writer, entries, writeEntry),
  read: (reader) => ({ type: 'digest', entries: readPlaces(reader, readEntry) }),
}
