import { limits } from '@runnel/protocol'

/** True for what a node may be told to connect to: a ws:// or wss:// URL within the protocol's limit. */
export function isTrackerUrl(text: string): boolean {
  if (text.length > limits.maxUrlBytes || !URL.canParse(text)) return false
  const { protocol } = new URL(text)
  return protocol === 'ws:' || protocol === 'wss:'
}
