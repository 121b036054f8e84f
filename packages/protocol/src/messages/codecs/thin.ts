import {
  maxU32,
  readList,
  readStreamPart,
  readWord,
  writeList,
  writeStreamPart,
  writeWord,
} from '../../codec/fields.ts'
import type { Reader } from '../../codec/reader.ts'
import type { Writer } from '../../codec/writer.ts'
import { protocolError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { floodModes, type Digest, type DigestEntry, type Thin } from '../packets.ts'
import type { BodyCodec } from './body-codec.ts'
import { readChainId, writeChainId } from './chain-head.ts'

const latestTimestamp = 0xffff_ffff_ffff

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

/** Timestamps follow each other closely: each as the difference to the one before, d ≥ 0 as 2d and d < 0 as −2d − 1. */
function writeEntry(writer: Writer, entry: DigestEntry, before: number): void {
  writeAlias(writer, entry)
  const difference = entry.timestamp - before
  writer.varint(difference >= 0 ? 2 * difference : -2 * difference - 1)
  writer.varint(entry.sequenceNumber, maxU32)
  writer.u32(entry.check)
}

function readEntry(reader: Reader, before: number): DigestEntry {
  const both = reader.varint(2 * maxU32 + 1)
  const coded = reader.varint(2 * latestTimestamp)
  const timestamp = before + (coded % 2 === 0 ? coded / 2 : -(coded + 1) / 2)
  if (timestamp < 0 || timestamp > latestTimestamp)
    throw protocolError('MALFORMED_PACKET', `a timestamp of ${timestamp} in a digest`)
  return {
    alias: Math.floor(both / 2),
    isSenders: both % 2 === 1,
    timestamp,
    sequenceNumber: reader.varint(maxU32),
    check: reader.u32(),
  }
}

function checkNotEmpty({ length }: readonly DigestEntry[]): void {
  if (length === 0) throw protocolError('MALFORMED_PACKET', 'a digest of nothing')
}

export const digest: BodyCodec<Digest> = {
  write(writer, { entries }) {
    checkNotEmpty(entries)
    let before = 0
    writeList(writer, entries, limits.maxDigestEntries, 'digest entries', (to, entry) => {
      writeEntry(to, entry, before)
      before = entry.timestamp
    })
  },
  read(reader) {
    let before = 0
    const entries = readList(reader, limits.maxDigestEntries, 'digest entries', (from) => {
      const entry = readEntry(from, before)
      before = entry.timestamp
      return entry
    })
    checkNotEmpty(entries)
    return { type: 'digest', entries }
  },
}
