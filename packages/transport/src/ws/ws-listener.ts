import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http'
import { createServer as createTlsServer, Server as TlsServer } from 'node:https'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import { circuitPath, isRunnelError, isWaitingPath, type NodeId } from '@runnel/protocol'
import type { Channel } from '../connection/channel.ts'
import type { ConnectionLimits } from '../connection/limits.ts'
import { transportError } from '../errors.ts'
import type { Place } from './admission.ts'
import { listen } from './listen.ts'
import { ownAddresses } from './own-address.ts'
import { shareSockets } from './share-sockets.ts'
import {
  circuitHeader,
  socketOptions,
  type Circuits,
  type ListenAddress,
  type ListenServer,
} from './ws-options.ts'

// An import of all that it exports, WebSocket among it, would also load Node's `fetch`: 2 MB.
const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http')

interface ListenerModules {
  readonly limits: ConnectionLimits
  /** Limit on sockets of a server of its own, in any state. */
  readonly maxSockets: number
  /** A socket above the limit was closed. */
  onCut(): void
  /** Returns a place for one more from this address; undefined when there is none. */
  enter(address: string): Place | undefined
  /** The socket is closed. */
  leave(place: Place): void
  onSocket(inbound: InboundSocket): void
  onCircuit(circuit: InboundCircuit): void
  /** A WebSocket of a node that wants to wait for circuits. */
  onWaiting(inbound: InboundSocket): void
}

/** A WebSocket that another node opened. */
export interface InboundSocket {
  readonly socket: WebSocket
  /** The remote address. */
  readonly address: string
  readonly place: Place
  /** See HandshakeOptions. */
  isOwnAddress(address: string): boolean
}

/** A WebSocket of a circuit, and the channel that continues it. */
export interface InboundCircuit {
  readonly socket: WebSocket
  readonly place: Place
  readonly onward: Channel
  readonly circuits: Circuits
}

/** Accepts WebSockets on `/`, and on the paths of circuits, on a server of its own or on a given one. */
export class WsListener {
  readonly #listen: ListenAddress | ListenServer
  readonly #modules: ListenerModules
  readonly #upgrader: WebSocketServer
  readonly #onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void =>
    this.#upgrade(request, socket, head)
  #server: HttpServer | undefined

  constructor(listen: ListenAddress | ListenServer, modules: ListenerModules) {
    this.#listen = listen
    this.#modules = modules
    this.#upgrader = new WebSocketServer({
      ...socketOptions(modules.limits),
      noServer: true,
      clientTracking: false,
    })
  }

  /** The URL others can dial; empty before `start`, and when a wildcard address leaves it unknown. */
  get url(): string {
    const server = this.#server
    if (server === undefined) return ''
    if (this.#listen.publicUrl !== undefined) return this.#listen.publicUrl
    const address = server.address()
    if (address === null || typeof address === 'string') return ''
    const host = 'host' in this.#listen ? this.#listen.host : address.address
    if (host === '0.0.0.0' || host === '::') return ''
    const scheme = server instanceof TlsServer ? 'wss' : 'ws'
    return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${address.port}`
  }

  /** Throws PORT_IN_USE and LISTEN_FAILED. */
  async start(): Promise<void> {
    const server =
      'server' in this.#listen ? this.#listen.server : await openServer(this.#listen, this.#modules)
    server.on('upgrade', this.#onUpgrade)
    this.#server = server
  }

  /** Accepts no more. A server of its own is closed, with its sockets that are not WebSockets yet. */
  async stop(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    server?.off('upgrade', this.#onUpgrade)
    if (server === undefined || 'server' in this.#listen) return
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', destroyIt)
    const path = request.url?.split('?', 1)[0] ?? ''
    const { circuits } = this.#listen
    const circuit = circuits && circuitPath(path)
    const isWaiting = circuits?.wait !== undefined && isWaitingPath(path)
    if (path !== '/' && circuit === undefined && !isWaiting)
      return answer(socket, 404, 'WebSockets are taken on /')
    const address = request.socket.remoteAddress ?? ''
    const place = this.#modules.enter(address)
    if (place === undefined) return answer(socket, 503, 'too many connections')
    this.#leaveWith(socket, place)
    // Calls back before it returns, or has answered a bad request itself. Any Origin may come: ids are proven, not cookies.
    const upgrade = (onSocket: (webSocket: WebSocket) => void) =>
      this.#upgrader.handleUpgrade(request, socket, head, onSocket)
    if (circuits !== undefined && circuit !== undefined)
      return this.#openCircuit(circuits, circuit, { socket, address, place, upgrade })
    const isOwnAddress = ownAddresses(this.#listen, request.socket)
    upgrade((webSocket) =>
      this.#modules[isWaiting ? 'onWaiting' : 'onSocket']({
        socket: webSocket,
        address,
        place,
        isOwnAddress,
      }),
    )
  }

  /** Apart from the upgrade, whose request and first bytes would otherwise be kept as long as the connection, some 3 kB. */
  #leaveWith(socket: Duplex, place: Place): void {
    // A socket closes once in any case, and what `once` puts around a listener stays until then: some 0.2 kB for each.
    socket.on('close', () => this.#modules.leave(place))
  }

  /** The WebSocket opens once the way on is open. */
  #openCircuit(
    circuits: Circuits,
    path: readonly NodeId[],
    to: {
      socket: Duplex
      address: string
      place: Place
      upgrade(onSocket: (webSocket: WebSocket) => void): void
    },
  ): void {
    const { socket, address, place, upgrade } = to
    place.onEvicted = () => socket.destroy()
    circuits.open(path, address).then(
      (onward) => {
        if (socket.destroyed) return onward.close(true)
        socket.once('close', () => onward.close())
        upgrade((webSocket) => this.#modules.onCircuit({ socket: webSocket, place, onward, circuits }))
      },
      (error: unknown) => {
        const why = isRunnelError(error) ? { [circuitHeader]: error.code } : {}
        answer(socket, 502, error instanceof Error ? error.message : 'there is no way on', why)
      },
    )
  }
}

/** For all sockets the same, which holds nothing of any. */
function destroyIt(this: Duplex): void {
  this.destroy()
}

function answer(socket: Duplex, status: number, text: string, headers: Record<string, string> = {}): void {
  socket.once('finish', () => socket.destroy())
  const further = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: text/plain\r\n${further.join('')}` +
      `${status === 503 ? 'Retry-After: 1\r\n' : ''}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  )
}

/** A server only for WebSockets. A silent connection is closed after the time limit of a handshake. */
async function openServer(
  address: ListenAddress,
  { limits, maxSockets, onCut }: ListenerModules,
): Promise<HttpServer> {
  const patience = {
    headersTimeout: limits.handshakeTimeoutMs,
    requestTimeout: limits.handshakeTimeoutMs,
    // Of TLS.
    handshakeTimeout: limits.handshakeTimeoutMs,
    connectionsCheckingInterval: Math.max(10, Math.floor(limits.handshakeTimeoutMs / 4)),
  }
  const server = createServerFor(address, patience)
  shareSockets(server, maxSockets, onCut)
  await listen(server, address.host, address.port)
  return server
}

function createServerFor({ tls }: ListenAddress, patience: object): HttpServer {
  const onRequest = (_request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(426, { Upgrade: 'websocket', Connection: 'close', 'Content-Type': 'text/plain' })
    response.end('This is a WebSocket endpoint')
  }
  if (tls === undefined) return createServer(patience, onRequest)
  try {
    return createTlsServer({ ...patience, cert: tls.cert, key: tls.key }, onRequest)
  } catch (cause) {
    throw transportError('LISTEN_FAILED', 'the TLS certificate or key cannot be used', { cause })
  }
}
