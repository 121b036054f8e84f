import { limits } from '@runnel/protocol'

/**
 * True for a URL that a node may be told to connect to: a ws:// or wss:// URL within the protocol's limit, without user and password, which would
 * be no secret.
 */
export function isTrackerUrl(text: string): boolean {
  if (text.length > limits.maxUrlBytes || !URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return (protocol === 'ws:' || protocol === 'wss:') && username === '' && password === ''
}

/** Returns a URL as it may be shown: without user, password, query and fragment. */
export function shownUrl(text: string): string {
  const url = URL.parse(text)
  return url === null
    ? 'not a URL'
    : `${url.protocol}//${url.host}${url.pathname === '/' ? '' : url.pathname}`
}
