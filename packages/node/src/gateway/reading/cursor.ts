import { createHash } from 'node:crypto'
import type { MessageChain, MessageRef } from '@runnel/protocol'
import { nodeError } from '../../errors.ts'
import { gatewayLimits } from '../limits.ts'

/**
 * How far a stream was read: of the chains that are listed all up to their heads, of all others what was published before `floorMs`. So
 * it says the same in whatever order publishers, partitions and late messages came.
 */
export interface Cursor {
  readonly floorMs: number
  /** By `tagOfChain`. */
  readonly heads: ReadonlyMap<string, MessageRef>
}

const version = 1
const streamBytes = 4
const tagBytes = 8
/** Version, stream, floor and base. */
const headerBytes = 1 + streamBytes + 6 + 6
/** Tag, milliseconds since the base, and sequence number. */
const entryBytes = tagBytes + 4 + 4

/** Stands for a chain in cursors: 64 bits of a hash, so that nobody makes a chain that hides another's messages. */
export function tagOfChain({ partition, publisherId, messageChainId }: MessageChain): string {
  return digest(`${partition} ${publisherId} ${messageChainId}`).toString('latin1', 0, tagBytes)
}

/**
 * A cursor as text, which clients need not look into: base64url of `u8 version ‖ 4 bytes of a hash of the stream ‖ u48 floor ‖ u48 base ‖
 * (8 bytes tag ‖ u32 milliseconds since the base ‖ u32 sequence number)…`.
 */
export function encodeCursor(streamId: string, { floorMs, heads }: Cursor): string {
  let baseMs = floorMs
  for (const { timestamp } of heads.values()) baseMs = Math.min(baseMs, timestamp)
  const bytes = Buffer.alloc(headerBytes + entryBytes * heads.size)
  bytes.writeUInt8(version)
  digest(streamId).copy(bytes, 1, 0, streamBytes)
  bytes.writeUIntBE(floorMs, 5, 6)
  bytes.writeUIntBE(baseMs, 11, 6)
  let at = headerBytes
  for (const [tag, { timestamp, sequenceNumber }] of heads) {
    bytes.write(tag, at, 'latin1')
    bytes.writeUInt32BE(Math.min(timestamp - baseMs, 2 ** 32 - 1), at + tagBytes)
    bytes.writeUInt32BE(sequenceNumber, at + tagBytes + 4)
    at += entryBytes
  }
  return bytes.toString('base64url')
}

/** Throws GATEWAY_CURSOR_INVALID for what is no cursor, or one of another stream. */
export function decodeCursor(streamId: string, text: string): Cursor {
  const bytes = Buffer.from(text.slice(0, gatewayLimits.maxCursorChars), 'base64url')
  const count = (bytes.length - headerBytes) / entryBytes
  const isWhole = Number.isInteger(count) && count >= 0 && count <= gatewayLimits.maxCursorChains
  if (!isWhole || bytes[0] !== version || bytes.toString('base64url') !== text)
    throw nodeError('GATEWAY_CURSOR_INVALID', 'it is not well-formed')
  if (digest(streamId).compare(bytes, 1, 1 + streamBytes, 0, streamBytes) !== 0)
    throw nodeError('GATEWAY_CURSOR_INVALID', 'it is of another stream')
  const baseMs = bytes.readUIntBE(11, 6)
  const heads = new Map<string, MessageRef>()
  for (let at = headerBytes; at < bytes.length; at += entryBytes) {
    const timestamp = baseMs + bytes.readUInt32BE(at + tagBytes)
    const sequenceNumber = bytes.readUInt32BE(at + tagBytes + 4)
    heads.set(bytes.toString('latin1', at, at + tagBytes), { timestamp, sequenceNumber })
  }
  return { floorMs: bytes.readUIntBE(5, 6), heads }
}

/** Where history has to be read from so that nothing is missed. */
export function beginOf({ floorMs, heads }: Cursor): number {
  return Math.min(floorMs, ...[...heads.values()].map(({ timestamp }) => timestamp))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
