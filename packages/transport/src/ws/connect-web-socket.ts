import type { ClientRequest, IncomingMessage } from 'node:http'
import { isRunnelError, type Cancel, type RunnelError } from '@runnel/protocol'
import { WebSocket } from 'ws'
import type { ConnectionLimits } from '../connection/limits.ts'
import { transportError } from '../errors.ts'
import { checkedLookup } from './checked-lookup.ts'
import type { ToldDial } from './told-dial.ts'
import { WsChannel } from './ws-channel.ts'
import { circuitHeader, socketOptions } from './ws-options.ts'

export interface ConnectOptions {
  readonly url: URL
  readonly told: ToldDial
  readonly limits: ConnectionLimits
  /** Trusted certificates in PEM; the system's when undefined. */
  readonly trustedCertificates: string | Buffer | undefined
  /** Chosen by the system when undefined. */
  readonly localAddress?: string | undefined
  /** Of the channel. Default: websocket. */
  readonly kind?: string
}

/**
 * Opens a WebSocket: TCP, TLS, upgrade. Has no time limit of its own. Fails with DIAL_FAILED, TLS_FAILED, and
 * TOO_MANY_CONNECTIONS when the server says so. Throws DIAL_FAILED when the host must not be dialled.
 */
export function connectWebSocket(
  { url, told, limits, trustedCertificates, localAddress, kind }: ConnectOptions,
  onChannel: (channel: WsChannel) => void,
  onFail: (error: RunnelError) => void,
): Cancel {
  told.begin()
  const socket = new WebSocket(url, {
    ...socketOptions(limits),
    lookup: checkedLookup((found) => told.choose(found)),
    ...(trustedCertificates === undefined ? {} : { ca: trustedCertificates }),
    ...(localAddress === undefined ? {} : { localAddress }),
  })
  let settled = false
  const settle = (report: () => void): void => {
    if (settled) return
    settled = true
    report()
  }
  // Stays attached: a socket that is terminated while it connects emits one more error.
  socket.on('error', (error) => settle(() => onFail(asDialError(error, url))))
  socket.once('unexpected-response', (request: ClientRequest, response: IncomingMessage) => {
    request.destroy()
    settle(() => onFail(responseError(response, url)))
  })
  socket.once('upgrade', ({ socket: { remoteAddress } }: IncomingMessage) => {
    told.reached = remoteAddress ?? told.reached
  })
  socket.once('open', () => settle(() => onChannel(new WsChannel(socket, limits, told.reached, kind))))
  return () => {
    settled = true
    socket.terminate()
  }
}

/** Throws DIAL_FAILED when it is no WebSocket URL. */
export function checkedUrl(text: string | undefined): URL {
  const url = URL.parse(text ?? '')
  if (url?.protocol !== 'ws:' && url?.protocol !== 'wss:') {
    throw transportError('DIAL_FAILED', `not a WebSocket URL: ${JSON.stringify(text)}`)
  }
  // The constructor of WebSocket throws on a fragment, as the standard says.
  url.hash = ''
  return url
}

function responseError(response: IncomingMessage, url: URL): RunnelError {
  if (response.statusCode === 503) return transportError('TOO_MANY_CONNECTIONS', `${url} takes no more now`)
  if (response.headers[circuitHeader] !== undefined)
    return transportError('NO_CIRCUIT', `${url.origin}: ${response.headers[circuitHeader]}`)
  return transportError('DIAL_FAILED', `${url} answered with HTTP status ${response.statusCode}`)
}

/** OpenSSL's verification of certificates, Node's check of the name, and a server that speaks no TLS. */
const tlsCodes = /CERT|SIGNATURE|ISSUER|^ERR_TLS|^ERR_SSL|^EPROTO$/

/** The reason why a socket did not open, as a RunnelError. */
export function asDialError(error: unknown, url: URL | string | undefined): RunnelError {
  if (isRunnelError(error)) return error
  const { code = '', message } = error as Error & { readonly code?: string }
  return transportError(tlsCodes.test(code) ? 'TLS_FAILED' : 'DIAL_FAILED', `${url}: ${message || code}`, {
    cause: error,
  })
}
