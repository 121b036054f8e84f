/** `ws` or `wss`, a host, a port if any, and no more than a slash behind: no user, path, query or fragment. */
const webSocketUrl = /^wss?:\/\/[^\s/?#@\\]+\/?$/

/**
 * Whether a node may say that it is dialled there: whoever is told dials it, so it must be no request to somebody else's server.
 * Empty says that it cannot be dialled; `memory:` is for networks in one process, and nobody else dials it.
 */
export function isContactUrl(text: string): boolean {
  if (text === '' || text.startsWith('memory:')) return true
  return webSocketUrl.test(text) && URL.canParse(text)
}
