import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { networkOf, Shares } from '@runnel/protocol'
import type { FastifyServerFactory } from 'fastify'
import { transportError } from '@runnel/transport'
import { trackerError } from '../errors.ts'
import { httpLimits } from './http-api.ts'

type RequestHandler = Parameters<FastifyServerFactory>[0]

export interface Tls {
  readonly cert: string
  readonly key: string
}

/**
 * A server for HTTP and WebSocket upgrades, not listening yet. Where there are more than `maxSockets` the newest of the network
 * with the most is cut off. Throws INVALID_TRACKER_OPTIONS when the certificate or key is none.
 */
export function createHttpServer(
  options: {
    readonly tls?: Tls | undefined
    readonly maxSockets: number
    /** Hears of every socket that is cut off because there are too many. */
    onCut?(): void
  },
  handler: RequestHandler,
): Server {
  const { requestTimeoutMs: requestTimeout, headersTimeoutMs: headersTimeout, maxHeaderBytes } = httpLimits
  const bounds = { requestTimeout, headersTimeout, maxHeaderSize: maxHeaderBytes }
  const server = createServerFor(bounds, options.tls, handler)
  const sockets = new Shares<Socket>({ max: options.maxSockets, evict: 'newest' })
  server.on('connection', (socket) => {
    socket.once('close', () => sockets.delete(socket))
    for (const cut of sockets.add(socket, networkOf(socket.remoteAddress ?? ''))) {
      options.onCut?.()
      cut.destroy()
    }
  })
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

/** Throws PORT_IN_USE and LISTEN_FAILED. */
export async function listen(server: Server, host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen({ host, port }, resolve)
  try {
    await promise
  } catch (cause) {
    const where = `${host}:${port}`
    if (cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE')
      throw transportError('PORT_IN_USE', where, { cause })
    throw transportError('LISTEN_FAILED', where, { cause })
  } finally {
    server.off('error', reject)
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
