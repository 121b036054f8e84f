import { isRunnelError, streamIdOf, toNodeId, toStreamId, type NodeId, type StreamId } from '@runnel/protocol'

/** Which streams are meant, those that are created later among them. */
export type StreamPattern = { readonly kind: 'one'; readonly streamId: StreamId } | StreamPrefix

/** All streams of an owner whose ids begin with `prefix`, which ends with a slash; and `itself`, if any. */
export interface StreamPrefix {
  readonly kind: 'all'
  readonly owner: NodeId
  readonly prefix: string
  readonly itself: StreamId | undefined
}

const anybody = toNodeId(`0x${'0'.repeat(40)}`)

/**
 * `0xowner/path` is one stream. `0xowner/a/#` means `0xowner/a` and all below it, as in MQTT, `0xowner/a/*` only what is below;
 * `0xowner/#` and `0xowner/*` are all of an owner. Without an owner they are streams of `own`. Throws INVALID_STREAM_ID.
 */
export function parseStreamPattern(text: string, own: NodeId): StreamPattern {
  return /\/[#*]$/.test(text) ? parsePrefix(text, own) : { kind: 'one', streamId: streamIdOf(text, own) }
}

/** As `parseStreamPattern`, of what ends with `/#` or `/*`. */
export function parsePrefix(text: string, own: NodeId): StreamPrefix {
  // Whatever a path may begin with, an id that ends after it is well-formed.
  const example = streamIdOf(`${text.slice(0, -1)}x`, own)
  const [prefix, owner] = [example.slice(0, -1), toNodeId(example.slice(0, 42))]
  const hasItself = text.endsWith('#') && prefix.length > owner.length + 1
  return { kind: 'all', owner, prefix, itself: hasItself ? toStreamId(prefix.slice(0, -1)) : undefined }
}

export function isStreamPattern(text: string): boolean {
  try {
    parseStreamPattern(text, anybody)
    return true
  } catch (error) {
    if (isRunnelError(error)) return false
    throw error
  }
}

export function matches(pattern: StreamPattern, streamId: StreamId): boolean {
  if (pattern.kind === 'one') return pattern.streamId === streamId
  return streamId.startsWith(pattern.prefix) || streamId === pattern.itself
}

/** Whether there can be a stream that both mean. */
export function overlap(one: StreamPattern, other: StreamPattern): boolean {
  if (one.kind === 'one') return matches(other, one.streamId)
  if (other.kind === 'one') return matches(one, other.streamId)
  return one.prefix.startsWith(other.prefix) || other.prefix.startsWith(one.prefix)
}
