import { createServer as createHttpServer, type IncomingMessage, type Server as HttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, TLSSocket } from 'node:tls'
import type { Duplex } from 'node:stream'
import { createWebSocketStream, WebSocketServer } from 'ws'
import type { TlsFiles } from '../../cli/tls-files.ts'
import { HostSockets } from '../access/host-sockets.ts'
import { answerPings } from '../answer-pings.ts'
import type { Peer } from './connection.ts'
import type { MqttLimits } from './limits.ts'

export interface ListenOptions {
  readonly host: string
  /** Plain TCP; undefined: not. */
  readonly port: number | undefined
  /** TLS; undefined: not. */
  readonly tlsPort: number | undefined
  /** WebSocket, with TLS where there are files; undefined: not. */
  readonly websocketPort: number | undefined
  readonly tls: TlsFiles | undefined
  /** Sockets of each of them, whatever was said on them yet. */
  readonly maxConnections: number
  /** Of all of them together, from one host. */
  readonly maxConnectionsPerAddress: number
}

/** What becomes of sockets. */
export interface ListenersEvents {
  readonly accept: (stream: Duplex, peer: Peer) => void
  /** There were too many. */
  readonly refused: () => void
}

/** The ports it listens on. */
export interface ListeningPorts {
  readonly port: number | undefined
  readonly tlsPort: number | undefined
  readonly websocketPort: number | undefined
}

/** The sub-protocols of MQTT over WebSocket (MQTT 5, section 6). */
const subprotocols = ['mqtt', 'mqttv3.1']

/** Where MQTT clients connect: TCP, TLS and WebSocket. */
export class Listeners {
  readonly #options: ListenOptions
  readonly #limits: MqttLimits
  readonly #events: ListenersEvents
  readonly #servers: Server[] = []
  readonly #sockets = new Set<Socket>()
  readonly #webSockets: WebSocketServer
  readonly #hosts: HostSockets

  constructor(options: ListenOptions, limits: MqttLimits, events: ListenersEvents) {
    this.#options = options
    this.#limits = limits
    this.#events = events
    this.#hosts = new HostSockets(options.maxConnectionsPerAddress, () => events.refused())
    this.#webSockets = new WebSocketServer({
      noServer: true,
      perMessageDeflate: false,
      autoPong: false,
      maxPayload: limits.maxPacketBytes,
      handleProtocols: (offered) => subprotocols.find((name) => offered.has(name)) ?? false,
    })
  }

  async start(): Promise<ListeningPorts> {
    const { host, port, tlsPort, websocketPort, tls } = this.#options
    // Which certificates are good the keys file says; holding the key of one is what TLS shows.
    const handshakeTimeout = this.#limits.connectTimeoutMs
    const secure = { ...tls, requestCert: true, rejectUnauthorized: false, handshakeTimeout }
    // A client may close its side and still have packets that wait here.
    const halfOpen = { allowHalfOpen: true }
    const take = (socket: Socket) => this.#take(socket)
    return {
      port: port === undefined ? undefined : await this.#listen(createServer(halfOpen, take), host, port),
      tlsPort:
        tlsPort === undefined
          ? undefined
          : await this.#listen(createTlsServer({ ...secure, ...halfOpen }, take), host, tlsPort),
      websocketPort:
        websocketPort === undefined
          ? undefined
          : await this.#listen(
              this.#upgrading(tls === undefined ? createHttpServer() : createHttpsServer(secure)),
              host,
              websocketPort,
            ),
    }
  }

  async stop(): Promise<void> {
    const closed = this.#servers
      .splice(0)
      .map((server) => new Promise((resolve) => void server.close(resolve)))
    this.#webSockets.close()
    // Its clients are told by now; those that do not read it are not waited for.
    for (const socket of this.#sockets) socket.destroySoon()
    await Promise.all(closed)
  }

  async #listen(server: Server, host: string, port: number): Promise<number> {
    server.maxConnections = this.#options.maxConnections
    server.on('drop', () => this.#events.refused())
    this.#hosts.watch(server)
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
    // A handshake that fails is its client's affair.
    server.on('tlsClientError', () => {})
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, host, () => {
        server.removeListener('error', reject)
        resolve()
      })
    })
    this.#servers.push(server)
    return (server.address() as AddressInfo).port
  }

  #take(socket: Socket): void {
    socket.setNoDelay(true)
    this.#events.accept(socket, peerOf(socket))
  }

  #upgrading(server: HttpServer): HttpServer {
    const { connectTimeoutMs, maxUnsentBytes } = this.#limits
    Object.assign(server, { headersTimeout: connectTimeoutMs, requestTimeout: connectTimeoutMs })
    server.on('request', (_, response) => response.writeHead(426, { upgrade: 'websocket' }).end())
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      // Node has taken its own listener away by now, and without one a client that resets ends the node.
      socket.on('error', () => socket.destroy())
      const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim())
      if (!subprotocols.some((name) => offered.includes(name))) {
        // One that does not close its side is not waited for.
        socket.once('finish', () => socket.destroy())
        socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n')
        return
      }
      this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
        socket.setNoDelay(true)
        answerPings(webSocket, maxUnsentBytes)
        const { address, certificateFingerprint } = peerOf(socket)
        this.#events.accept(createWebSocketStream(webSocket), {
          address,
          certificateFingerprint: isOfOtherOrigin(request) ? undefined : certificateFingerprint,
        })
      })
    })
    return server
  }
}

function peerOf(socket: Socket): Peer {
  const { remoteAddress: address = '' } = socket
  const certificateFingerprint =
    socket instanceof TLSSocket ? socket.getPeerX509Certificate()?.fingerprint256 : undefined
  return { address, certificateFingerprint }
}

/** A browser shows a certificate for any page, so it counts for those of this server only. */
function isOfOtherOrigin({ headers: { origin, host } }: IncomingMessage): boolean {
  return origin !== undefined && origin !== `https://${host}`
}
