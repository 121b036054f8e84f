import type { Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { FastifyServerFactory } from 'fastify'
import { shareSockets } from '@runnel/transport'
import { trackerError } from '../errors.ts'
import { httpLimits } from './http-api.ts'

// An import of all that it exports, WebSocket among it, would also load Node's `fetch`: 2 MB.
const { createServer } = process.getBuiltinModule('node:http')

type RequestHandler = Parameters<FastifyServerFactory>[0]

export interface Tls {
  readonly cert: string
  readonly key: string
}

/**
 * A server for HTTP and WebSocket upgrades, not listening yet. Above `maxSockets` the newest socket of the network with the
 * most is closed. Throws INVALID_TRACKER_OPTIONS when the certificate or key is invalid.
 */
export function createHttpServer(
  options: {
    readonly tls?: Tls | undefined
    readonly maxSockets: number
    /** Time limit for TLS, and then for the headers of a request. Default: that of `httpLimits`. */
    readonly headersTimeoutMs?: number
    /** Called for every socket that is closed because there are too many. */
    onCut?(): void
  },
  handler: RequestHandler,
): Server {
  const { requestTimeoutMs: requestTimeout, maxHeaderBytes } = httpLimits
  const { headersTimeoutMs: headersTimeout = httpLimits.headersTimeoutMs } = options
  // TLS has the same time limit as headers.
  const timeouts = { requestTimeout, headersTimeout, handshakeTimeout: headersTimeout }
  const bounds = { ...timeouts, maxHeaderSize: maxHeaderBytes }
  const server = createServerFor(bounds, options.tls, handler)
  shareSockets(server, options.maxSockets, () => options.onCut?.())
  server.maxRequestsPerSocket = httpLimits.maxRequestsPerSocket
  return server
}

function createServerFor(bounds: object, tls: Tls | undefined, handler: RequestHandler): Server {
  if (tls === undefined) return createServer(bounds, handler)
  try {
    return createTlsServer({ ...bounds, cert: tls.cert, key: tls.key }, handler)
  } catch (cause) {
    throw trackerError('INVALID_TRACKER_OPTIONS', 'listen.tls: no usable certificate and key', { cause })
  }
}

/** Stops listening and cuts off what is still asked. */
export async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await closed
}

/** The URL of a listening server. */
export function urlOf(server: Server, scheme: string, host: string): string {
  const { port } = server.address() as AddressInfo
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`
}
