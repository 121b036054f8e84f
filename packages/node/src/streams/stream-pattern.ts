import { isRunnelError, streamIdOf, toNodeId, type NodeId, type StreamId } from '@runnel/protocol'

/** Which streams an entry of the setting `streams` means. */
export type StreamPattern =
  | { readonly kind: 'one'; readonly streamId: StreamId }
  /** All streams of an owner whose ids begin with `prefix`. */
  | { readonly kind: 'all'; readonly owner: NodeId; readonly prefix: string }

const anybody = toNodeId(`0x${'0'.repeat(40)}`)

/** `0xowner/path`, `0xowner/prefix/*` or `0xowner/*`; without an owner they are streams of `own`. Throws INVALID_STREAM_ID. */
export function parseStreamPattern(text: string, own: NodeId): StreamPattern {
  if (!text.endsWith('/*')) return { kind: 'one', streamId: streamIdOf(text, own) }
  // Whatever a path may begin with, an id that ends after it is well-formed.
  const example = streamIdOf(`${text.slice(0, -1)}x`, own)
  return { kind: 'all', owner: toNodeId(example.slice(0, 42)), prefix: example.slice(0, -1) }
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
  return pattern.kind === 'one' ? pattern.streamId === streamId : streamId.startsWith(pattern.prefix)
}
