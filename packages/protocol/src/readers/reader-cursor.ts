import { fromBase64Url, toBase64Url } from '../codec/base64url.ts'
import { Reader } from '../codec/reader.ts'
import { Writer } from '../codec/writer.ts'
import { protocolError } from '../errors.ts'
import { limits } from '../limits.ts'
import { compareRefs, type MessageRef } from '../messages/stream-message.ts'
import { chainTagBytes } from './reader-chains.ts'

/** Places of one chain: all after `after`, up to and including `upTo`. */
export interface PlaceRange {
  readonly after: MessageRef
  readonly upTo: MessageRef
}

/** What a reader is done with of one chain, from the floor on. */
export interface CursorChain {
  /** See `chainTagOf`. */
  readonly tag: string
  /** At least one; ascending, and apart from each other. */
  readonly ranges: readonly PlaceRange[]
}

/** How far a reader is in a stream. */
export interface ReaderCursor {
  /** A later one counts instead of an earlier one; of one generation all count together. */
  readonly generation: number
  /** Everything with an earlier timestamp is done, in every chain. */
  readonly floorMs: number
  readonly chains: readonly CursorChain[]
}

/** The first byte. What begins otherwise is of a later version. */
const version = 1

/**
 * `u8 1 ‖ varint generation ‖ u48 floor ‖ varint chains`, and for each chain, ascending by tag: `tag (12) ‖ varint ranges`, and for each range
 * `varint ms ‖ varint number ‖ varint ms ‖ varint number`: both ends, in milliseconds after the end before, the first after the millisecond before the floor. Throws LIMIT_EXCEEDED.
 */
export function encodeCursor({ generation, floorMs, chains }: ReaderCursor): Uint8Array {
  const writer = new Writer()
  writer.u8(version)
  writer.varint(generation)
  writer.u48(floorMs)
  writer.count(chains.length, limits.maxCursorRanges, 'chains of a cursor')
  const byTag = chains.map((chain) => ({ ...chain, bytes: tagBytesOf(chain.tag) }))
  for (const { ranges, bytes } of byTag.sort((a, b) => compareBytes(a.bytes, b.bytes))) {
    writer.fixed(bytes, chainTagBytes, 'the tag of a chain')
    writer.count(ranges.length, limits.maxCursorRanges, 'ranges of a cursor')
    let beforeMs = beginOf(floorMs)
    for (const place of ranges.flatMap(({ after, upTo }) => [after, upTo])) {
      writer.varint(place.timestamp - beforeMs)
      writer.varint(place.sequenceNumber)
      beforeMs = place.timestamp
    }
  }
  return writer.view().slice()
}

/** Throws MALFORMED_PACKET, and LIMIT_EXCEEDED. */
export function decodeCursor(bytes: Uint8Array): ReaderCursor {
  const reader = new Reader(bytes)
  if (reader.u8() !== version) throw protocolError('MALFORMED_PACKET', 'a cursor of another version')
  const generation = reader.varint()
  const floorMs = reader.u48()
  const chains: CursorChain[] = []
  let left: number = limits.maxCursorRanges
  let tagBefore: Uint8Array | undefined
  for (let i = reader.count(left, 'chains of a cursor'); i > 0; i--) {
    const tag = reader.view(chainTagBytes)
    if (tagBefore !== undefined && compareBytes(tagBefore, tag) >= 0)
      throw protocolError('MALFORMED_PACKET', 'chains that are not in order')
    tagBefore = tag
    const count = reader.count(left, 'ranges of a cursor')
    if (count === 0) throw protocolError('MALFORMED_PACKET', 'a chain without ranges')
    left -= count
    chains.push({ tag: toBase64Url(tag), ranges: readRanges(reader, count, floorMs) })
  }
  reader.end()
  return { generation, floorMs, chains }
}

function readRanges(reader: Reader, count: number, floorMs: number): PlaceRange[] {
  const ranges: PlaceRange[] = []
  let before: MessageRef = { timestamp: beginOf(floorMs), sequenceNumber: 0 }
  const next = (): MessageRef => {
    const timestamp = before.timestamp + reader.varint(latestTimestamp - before.timestamp)
    const place = { timestamp, sequenceNumber: reader.varint(2 ** 32 - 1) }
    before = place
    return place
  }
  for (let i = 0; i < count; i++) {
    const last = ranges.at(-1)?.upTo
    const range = { after: next(), upTo: next() }
    const isApart = last === undefined || compareRefs(last, range.after) < 0
    if (!isApart || compareRefs(range.after, range.upTo) >= 0)
      throw protocolError('MALFORMED_PACKET', 'ranges that are not apart, or not in order')
    ranges.push(range)
  }
  return ranges
}

const latestTimestamp = 2 ** 48 - 1

/** Ranges begin here at the earliest. */
const beginOf = (floorMs: number): number => Math.max(0, floorMs - 1)

function tagBytesOf(tag: string): Uint8Array {
  return fromBase64Url(tag) ?? new Uint8Array()
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}
