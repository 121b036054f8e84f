import { protocolError } from '../errors.ts'
import { nodeIdFromBytes, nodeIdToBytes, type NodeId } from '../ids/node-id.ts'
import {
  keyPartition,
  parseStreamPartId,
  toStreamId,
  toStreamPartId,
  type StreamId,
  type StreamPartId,
} from '../ids/stream-id.ts'
import { limits } from '../limits.ts'
import type { MessageRef } from '../messages/stream-message.ts'
import type { Reader } from './reader.ts'
import { checkWhole, type Writer } from './writer.ts'

/** Largest value of an unsigned 32-bit field, such as a sequence number. */
export const maxU32 = 0xffff_ffff

export function readNodeId(reader: Reader): NodeId {
  return nodeIdFromBytes(reader.view(20))
}

export function writeNodeId(writer: Writer, id: NodeId): void {
  writer.raw(nodeIdToBytes(id))
}

/** A stream id is sent in its normal form: another spelling of the same id is refused, so that equal ids are equal bytes. */
export function checkedStreamId(text: string): StreamId {
  let id: StreamId
  try {
    id = toStreamId(text)
  } catch (cause) {
    throw protocolError('MALFORMED_PACKET', 'not a stream id', { cause })
  }
  if (id !== text) throw protocolError('MALFORMED_PACKET', 'a stream id with capitals in its owner')
  return id
}

export function checkedPartition(partition: number): number {
  if (partition > keyPartition) throw protocolError('MALFORMED_PACKET', `partition ${partition}`)
  return partition
}

export function readStreamPart(reader: Reader): StreamPartId {
  const streamId = checkedStreamId(reader.ascii(limits.maxStreamIdBytes, 'stream id'))
  return toStreamPartId(streamId, checkedPartition(reader.u8()))
}

export function writeStreamPart(writer: Writer, id: StreamPartId): void {
  const { streamId, partition } = parseStreamPartId(id)
  writer.ascii(streamId, limits.maxStreamIdBytes, 'stream id')
  writer.u8(partition)
}

export function readRef(reader: Reader): MessageRef {
  const timestamp = reader.u48()
  return { timestamp, sequenceNumber: reader.varint(maxU32) }
}

/** u48 timestamp and a sequence number, which is a varint of at most five bytes. */
export const roomForRef = 6 + 5

/** As `writeRef`, at a place of a view; returns where it ends. */
export function setRef(numbers: DataView, start: number, { timestamp, sequenceNumber }: MessageRef): number {
  const high = Math.floor(timestamp / 2 ** 32)
  const low = timestamp >>> 0
  // What is whole, and in range, is what its parts say again: asking for it first takes longer.
  if (high * 2 ** 32 + low !== timestamp || (high & 0xffff) !== high) checkWhole(timestamp, 0xffff_ffff_ffff)
  if (sequenceNumber >>> 0 !== sequenceNumber) checkWhole(sequenceNumber, maxU32)
  numbers.setUint16(start, high)
  numbers.setUint32(start + 2, low)
  return setVarint(numbers, start + 6, sequenceNumber)
}

/** Of a varint of at most 32 bits. */
export const roomForVarint = 5

/** A varint of at most 32 bits at a place of a view, unchecked; returns where it ends. */
export function setVarint(numbers: DataView, start: number, value: number): number {
  let at = start
  let left = value
  for (; left >= 0x80; left >>>= 7) numbers.setUint8(at++, (left & 0x7f) | 0x80)
  numbers.setUint8(at++, left)
  return at
}

export function writeRef(writer: Writer, ref: MessageRef): void {
  const start = writer.room(roomForRef)
  writer.wrote(setRef(writer.numbers, start, ref))
}

/** One of a list of words, as its index in one byte. */
export function readWord<Word extends string>(reader: Reader, words: readonly Word[], what: string): Word {
  const word = words[reader.u8()]
  if (word === undefined) throw protocolError('MALFORMED_PACKET', `unknown ${what}`)
  return word
}

export function writeWord<Word extends string>(
  writer: Writer,
  words: readonly Word[],
  word: Word,
  what: string,
): void {
  const index = words.indexOf(word)
  if (index < 0) throw protocolError('MALFORMED_PACKET', `unknown ${what}`)
  writer.u8(index)
}

/** A varint count and that many items. */
export function readList<Item>(
  reader: Reader,
  limit: number,
  what: string,
  read: (reader: Reader) => Item,
): Item[] {
  const count = reader.count(limit, what)
  const items: Item[] = []
  for (let i = 0; i < count; i++) items.push(read(reader))
  return items
}

export function writeList<Item>(
  writer: Writer,
  items: readonly Item[],
  limit: number,
  what: string,
  write: (writer: Writer, item: Item) => void,
): void {
  writer.count(items.length, limit, what)
  for (const item of items) write(writer, item)
}

/** Throws MALFORMED_PACKET when a node is named twice. */
export function checkDistinct(items: readonly { readonly nodeId: NodeId }[]): void {
  const ids = new Set<NodeId>()
  for (const { nodeId } of items) {
    if (ids.has(nodeId)) throw protocolError('MALFORMED_PACKET', `${nodeId} twice`)
    ids.add(nodeId)
  }
}
