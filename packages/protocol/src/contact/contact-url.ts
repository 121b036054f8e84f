/** A host, a port if any, and no more than a slash behind: no user, path, query or fragment. */
const hostOnly = /^ws:\/\/[^\s/?#@\\]+\/?$/

/**
 * Whether a node may say that it is dialled at this URL, by one of these schemes: whoever is told dials it, so it must be no request
 * to somebody else's server. Every transport checks what it dials; nobody checks the addresses of others.
 */
export function isContactUrl(text: string, schemes: readonly string[]): boolean {
  // The URL standard checks hosts and ports of its own schemes only.
  const [scheme = ''] = text.split(':', 1)
  const asWeb = `ws${text.slice(scheme.length)}`
  return schemes.includes(scheme) && hostOnly.test(asWeb) && URL.canParse(asWeb)
}
