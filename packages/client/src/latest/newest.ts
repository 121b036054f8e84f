import {
  compareRefs,
  isSameBytes,
  keyTagIn,
  toStreamPartId,
  type MessageBatch,
  type StreamMessage,
  type StreamPartId,
} from '@runnel/protocol'

/** Positive when `a` is newer than `b`: by time, then by publisher, the same for everybody. */
export function compareNewness(a: StreamMessage, b: StreamMessage): number {
  const order = compareRefs(a, b)
  if (order !== 0) return order
  return a.publisherId === b.publisherId ? 0 : a.publisherId > b.publisherId ? 1 : -1
}

export function newerOf(
  a: StreamMessage | undefined,
  b: StreamMessage | undefined,
): StreamMessage | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return compareNewness(b, a) > 0 ? b : a
}

/** The last message of a batch that has a key, or without a tag the last one; undefined when the batch is of elsewhere. */
export function lastIn(
  { chain, messages }: MessageBatch,
  streamPartId: StreamPartId,
  tag: Uint8Array | undefined,
): StreamMessage | undefined {
  if (toStreamPartId(chain.streamId, chain.partition) !== streamPartId) return undefined
  return messages.findLast((message) => tag === undefined || hasTag(message, tag))
}

function hasTag(message: StreamMessage, tag: Uint8Array): boolean {
  const own = keyTagIn(message)
  return own !== undefined && isSameBytes(own, tag)
}
