import { protocolError } from '../errors.ts'
import { limits } from '../limits.ts'
import type { NodeId } from './node-id.ts'

/** `0xowner/path`: the lower-case address of the key that created the stream, and a path of its choice. */
export type StreamId = string & { readonly __brand: 'StreamId' }
/** `streamId#partition`: the unit that has an overlay of its own. */
export type StreamPartId = string & { readonly __brand: 'StreamPartId' }

/** JSON schema of a stream part id, to turn away early what cannot be one; `parseStreamPartId` says what is. */
export const streamPartIdSchema = {
  type: 'string',
  maxLength: 250,
  pattern: '^0x[0-9a-f]{40}/[A-Za-z0-9._/-]+#([0-9]{1,2}|100)$',
} as const

/** The part of a stream for its keys, after those for its messages. It floods like any other; who may take part in it differs. */
export const keyPartition = limits.maxPartitions

/**
 * What a permission is about: a stream, in all its partitions for messages; or its key part, as a stream part id, where everybody
 * publishes and reads who may publish to the stream, subscribe to it, or grant.
 */
export type PermissionScope = StreamId | StreamPartId

export function permissionScope(streamId: StreamId, partition: number): PermissionScope {
  return partition === keyPartition ? (`${streamId}#${keyPartition}` as StreamPartId) : streamId
}

/** Of a stream part. Throws INVALID_STREAM_ID or INVALID_PARTITION. */
export function scopeOfPart(id: StreamPartId): PermissionScope {
  const { streamId, partition } = parseStreamPartId(id)
  return permissionScope(streamId, partition)
}

const keySuffix = `#${keyPartition}`

/** Whether a permission, or a stream part, is that of a stream's keys. */
export function isKeyPart(scope: PermissionScope): boolean {
  return scope.endsWith(keySuffix)
}

/** The stream that a permission is about. */
export function streamOfScope(scope: PermissionScope): StreamId {
  return (isKeyPart(scope) ? scope.slice(0, -keySuffix.length) : scope) as StreamId
}

const pattern = /^0x[0-9a-f]{40}\/[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._-]+)*$/

/** Checks a stream id, lowering the owner's hexadecimal digits. Throws INVALID_STREAM_ID. */
export function toStreamId(text: string): StreamId {
  const id = text.slice(0, 42).toLowerCase() + text.slice(42)
  if (id.length > limits.maxStreamPathBytes + 43 || !pattern.test(id)) {
    throw protocolError('INVALID_STREAM_ID', JSON.stringify(text.slice(0, 80)))
  }
  return id as StreamId
}

/** As `toStreamId`, and `/path` is a stream of `owner`. Programs without types may give an object, as to other libraries. Throws INVALID_STREAM_ID. */
export function streamIdOf(text: unknown, owner: NodeId): StreamId {
  if (typeof text !== 'string')
    throw protocolError('INVALID_STREAM_ID', `${typeof text}, where text is needed`)
  return toStreamId(text.startsWith('/') ? owner + text : text)
}

/** The stream part of a stream and a partition number. Throws INVALID_PARTITION. */
export function toStreamPartId(streamId: StreamId, partition: number): StreamPartId {
  if (!Number.isInteger(partition) || partition < 0 || partition > keyPartition) {
    throw protocolError('INVALID_PARTITION', String(partition))
  }
  return `${streamId}#${partition}` as StreamPartId
}

/** Takes a stream part id apart. Throws INVALID_STREAM_ID or INVALID_PARTITION. */
export function parseStreamPartId(text: string): { streamId: StreamId; partition: number } {
  const at = text.lastIndexOf('#')
  const digits = text.slice(at + 1)
  if (at < 0 || !/^(0|[1-9]\d?|100)$/.test(digits))
    throw protocolError('INVALID_PARTITION', JSON.stringify(digits.slice(0, 20)))
  return { streamId: toStreamId(text.slice(0, at)), partition: Number(digits) }
}
