import type { IceServer } from '@runnel/protocol'

import { transportError } from '../errors.ts'

export interface ParsedIceServer {
  readonly scheme: 'stun' | 'turn' | 'turns'
  readonly hostname: string
  readonly port: number
  readonly transport: 'udp' | 'tcp'
  readonly username: string
  readonly credential: string
}

const pattern =
  /^(stun|turns?):(?:([^:@\s]+):([^@\s]+)@)?(\[[0-9a-fA-F:.]+\]|[^:?@\s/]+)(?::(\d{1,5}))?(?:\?transport=(udp|tcp))?$/

/**
 * An ICE server (URLs of RFC 7064 and 7065, and the common `turn:user:password@host:port`).
 * Throws INVALID_ICE_SERVER, never with the credential in the message.
 */
export function parseIceServer(server: string | IceServer): ParsedIceServer {
  const { url, username, credential } =
    typeof server === 'string' ? { url: server, username: '', credential: '' } : server
  const match = pattern.exec(url)
  if (!match)
    throw transportError('INVALID_ICE_SERVER', JSON.stringify(url.replace(/:[^:]*@/, ':…@').slice(0, 100)))
  const [, scheme, urlUser = '', urlCredential = '', host = '', digits, transport] = match
  const port = digits === undefined ? (scheme === 'turns' ? 5349 : 3478) : Number(digits)
  const parsed: ParsedIceServer = {
    scheme: scheme as ParsedIceServer['scheme'],
    hostname: host.replace(/^\[|\]$/g, ''),
    port,
    transport: transport === 'tcp' ? 'tcp' : 'udp',
    username: username || urlUser,
    credential: credential || urlCredential,
  }
  if (port < 1 || port > 65_535) throw transportError('INVALID_ICE_SERVER', `port ${port}`)
  if (scheme !== 'stun' && (!parsed.username || !parsed.credential)) {
    throw transportError('INVALID_ICE_SERVER', `${scheme}:${host} without user name and credential`)
  }
  return parsed
}

/** The text form of an ICE server. Throws INVALID_ICE_SERVER. */
export function toIceServer(server: string | IceServer): IceServer {
  const { scheme, hostname, port, transport, username, credential } = parseIceServer(server)
  const host = hostname.includes(':') ? `[${hostname}]` : hostname
  const suffix = scheme !== 'stun' && transport === 'tcp' ? '?transport=tcp' : ''
  return { url: `${scheme}:${host}:${port}${suffix}`, username, credential }
}
