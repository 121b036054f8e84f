import {
  readList,
  readRef,
  readStreamPart,
  writeList,
  writeRef,
  writeStreamPart,
} from '../../codec/fields.ts'
import type { Reader } from '../../codec/reader.ts'
import type { Writer } from '../../codec/writer.ts'
import { protocolError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { Fetch, Fetched, Heads, MissingRange } from '../packets/gaps.ts'
import { compareRefs } from '../stream-message.ts'
import type { BodyCodec } from './body-codec.ts'
import { readChainId, readHead, writeChainId, writeHead } from './chain-head.ts'
import { readFlag, writeFlag } from './flag.ts'

function checkRange(range: MissingRange): MissingRange {
  if (compareRefs(range.after, range.upTo) >= 0) {
    throw protocolError('MALFORMED_PACKET', 'a missing range without a place in it')
  }
  return range
}

function writeRange(writer: Writer, range: MissingRange): void {
  const { after, upTo } = checkRange(range)
  writeRef(writer, after)
  writeRef(writer, upTo)
}

function readRange(reader: Reader): MissingRange {
  return checkRange({ after: readRef(reader), upTo: readRef(reader) })
}

/** In order and apart, so that no answer holds anything twice. */
function checkRanges(ranges: readonly MissingRange[]): void {
  if (ranges.length === 0) throw protocolError('MALFORMED_PACKET', 'a fetch without ranges')
  let before: MissingRange | undefined
  for (const range of ranges) {
    if (before !== undefined && compareRefs(before.upTo, range.after) > 0) {
      throw protocolError('MALFORMED_PACKET', 'missing ranges that overlap or are not in order')
    }
    before = range
  }
}

export const fetch: BodyCodec<Fetch> = {
  write(writer, packet) {
    checkRanges(packet.ranges)
    writer.u32(packet.requestId)
    writeStreamPart(writer, packet.streamPartId)
    writeChainId(writer, packet)
    writeList(writer, packet.ranges, limits.maxFetchRanges, 'missing ranges', writeRange)
  },
  read(reader) {
    const requestId = reader.u32()
    const streamPartId = readStreamPart(reader)
    const chain = readChainId(reader)
    const ranges = readList(reader, limits.maxFetchRanges, 'missing ranges', readRange)
    checkRanges(ranges)
    return { type: 'fetch', requestId, streamPartId, ...chain, ranges }
  },
}

export const fetched: BodyCodec<Fetched> = {
  write(writer, packet) {
    writer.u32(packet.requestId)
    writeFlag(writer, packet.complete)
  },
  read: (reader) => ({ type: 'fetched', requestId: reader.u32(), complete: readFlag(reader) }),
}

export const heads: BodyCodec<Heads> = {
  write(writer, packet) {
    writeStreamPart(writer, packet.streamPartId)
    writeList(writer, packet.heads, limits.maxChainHeads, 'message chain heads', writeHead)
  },
  read: (reader) => ({
    type: 'heads',
    streamPartId: readStreamPart(reader),
    heads: readList(reader, limits.maxChainHeads, 'message chain heads', readHead),
  }),
}
