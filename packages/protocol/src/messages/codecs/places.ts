import { maxU32, readList, writeList } from '../../codec/fields.ts'
import type { Reader } from '../../codec/reader.ts'
import type { Writer } from '../../codec/writer.ts'
import { protocolError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { MessageRef } from '../stream-message.ts'

const latestTimestamp = 0xffff_ffff_ffff

/** Timestamps follow each other closely: each as the difference to the one before, d ≥ 0 as 2d and d < 0 as −2d − 1. */
export function writePlace(writer: Writer, place: MessageRef, before: number): void {
  const difference = place.timestamp - before
  writer.varint(difference >= 0 ? 2 * difference : -2 * difference - 1)
  writer.varint(place.sequenceNumber, maxU32)
}

export function readPlace(reader: Reader, before: number): MessageRef {
  const coded = reader.varint(2 * latestTimestamp)
  const timestamp = before + (coded % 2 === 0 ? coded / 2 : -(coded + 1) / 2)
  if (timestamp < 0 || timestamp > latestTimestamp)
    throw protocolError('MALFORMED_PACKET', `a timestamp of ${timestamp} in a digest`)
  return { timestamp, sequenceNumber: reader.varint(maxU32) }
}

/** A list of 1 to `maxDigestEntries`, each written with the timestamp of the one before. */
export function writePlaces<T extends MessageRef>(
  writer: Writer,
  entries: readonly T[],
  write: (to: Writer, entry: T, before: number) => void,
): void {
  checkNotEmpty(entries)
  let before = 0
  writeList(writer, entries, limits.maxDigestEntries, 'digest entries', (to, entry) => {
    write(to, entry, before)
    before = entry.timestamp
  })
}

export function readPlaces<T extends MessageRef>(
  reader: Reader,
  read: (from: Reader, before: number) => T,
): readonly T[] {
  let before = 0
  const entries = readList(reader, limits.maxDigestEntries, 'digest entries', (from) => {
    const entry = read(from, before)
    before = entry.timestamp
    return entry
  })
  checkNotEmpty(entries)
  return entries
}

function checkNotEmpty({ length }: readonly MessageRef[]): void {
  if (length === 0) throw protocolError('MALFORMED_PACKET', 'a digest of nothing')
}
