import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'
import type { GatewayCredential } from '../access/access.ts'

/**
 * The key or the certificate that a request shows; a key goes before. In the query only where `inQuery`: pages cannot set headers for
 * event streams and WebSockets. A browser shows a certificate for any page, so it counts for pages of `origins` that are named only.
 */
export function credentialOf(
  request: IncomingMessage,
  inQuery: boolean,
  origins: readonly string[],
): GatewayCredential | undefined {
  const { authorization, origin } = request.headers
  const [, bearer] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? []
  const asked = inQuery ? new URL(request.url ?? '/', 'http://gateway').searchParams.get('key') : null
  const key = bearer ?? asked ?? undefined
  if (key !== undefined) return { key }
  const { socket } = request
  if (!(socket instanceof TLSSocket) || (origin !== undefined && !origins.includes(origin))) return undefined
  // Whoever signed it, the other end of the connection has its key; the file of keys says whom it names.
  const { fingerprint256 } = socket.getPeerCertificate() as { readonly fingerprint256?: string }
  return fingerprint256 === undefined ? undefined : { certificateFingerprint: fingerprint256 }
}
