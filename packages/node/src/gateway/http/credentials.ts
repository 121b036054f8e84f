import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'
import type { GatewayCredential } from '../access.ts'

/**
 * The key or the certificate that a request shows; a key goes before. In the query only where `inQuery`: pages cannot set headers for
 * event streams and WebSockets.
 */
export function credentialOf(request: IncomingMessage, inQuery: boolean): GatewayCredential | undefined {
  const [, bearer] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? []
  const asked = inQuery ? new URL(request.url ?? '/', 'http://gateway').searchParams.get('key') : null
  const key = bearer ?? asked ?? undefined
  if (key !== undefined) return { key }
  const { socket } = request
  // Whoever signed it, the other end of the connection has its key; the file of keys says whom it names.
  const certificateFingerprint =
    socket instanceof TLSSocket ? socket.getPeerCertificate().fingerprint256 : undefined
  return certificateFingerprint === undefined ? undefined : { certificateFingerprint }
}
