import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { isContactUrl, type Cancel, type LinkRole } from '@runnel/protocol'
import type { Connect } from '../connection/dial.ts'
import { ConnectionPool } from '../connection/connection-pool.ts'
import { connectionLimits, type ConnectionLimits } from '../connection/limits.ts'
import { transportError } from '../errors.ts'
import type { Connection, DialRequest, Transport } from '../ports.ts'
import { Admission, type AdmissionLimits } from '../ws/admission.ts'
import { checkedLookup } from '../ws/checked-lookup.ts'
import { asDialError } from '../ws/connect-web-socket.ts'
import { listen } from '../ws/listen.ts'
import { ownAddresses } from '../ws/own-address.ts'
import { addressOfUrl } from '../ws/socket-address.ts'
import { ToldDial } from '../ws/told-dial.ts'
import { ToldDials, type DialModules } from '../ws/told-dials.ts'
import type { ListenAddress } from '../ws/ws-options.ts'
import { TcpChannel } from './tcp-channel.ts'

export interface TcpOptions extends Partial<AdmissionLimits> {
  /** The role this side acts in on its links. */
  readonly role: LinkRole
  /** As for a WebSocket server, with URLs `tcp://host:port`. Without it others cannot dial this node. */
  readonly listen?: Omit<ListenAddress, 'tls'>
}

const tcpDefaults = { maxConnections: 10_000, maxPendingHandshakes: 1024 } as const
/** Time limit for one dial, handshake included. */
const tcpDialTimeoutMs = 15_000

/** Parses `tcp://` as a URL of the web, for which the standard checks the host and the port. */
function asWebUrl(url: string): string {
  return url.replace(/^tcp:/, 'ws:')
}

/** Links over plain TCP, sealed like those over WebSockets: for nodes that others reach without a proxy. */
export class TcpTransport implements Transport {
  readonly kind = 'tcp'
  onInbound: (connection: Connection) => void = () => {}
  readonly #options: TcpOptions
  readonly #limits: ConnectionLimits
  readonly #modules: DialModules
  readonly #pool: ConnectionPool<TcpChannel>
  readonly #admission: Admission
  readonly #toldDials: ToldDials
  #server: Server | undefined
  #running = false

  constructor(options: TcpOptions, modules: DialModules) {
    this.#options = options
    this.#modules = modules
    this.#limits = connectionLimits(modules.limits)
    const settings = { ...tcpDefaults, ...options }
    this.#pool = new ConnectionPool({ ...settings, dialTimeoutMs: tcpDialTimeoutMs }, modules)
    this.#admission = new Admission(settings)
    this.#toldDials = modules.toldDials ?? new ToldDials({}, modules.clock)
  }

  /** Where others can dial: none before `start`, and on a wildcard address without a public URL. */
  get addresses(): readonly string[] {
    const { host = '', publicUrl } = this.#options.listen ?? {}
    if (this.#server === undefined) return []
    if (publicUrl !== undefined) return [publicUrl]
    if (host === '0.0.0.0' || host === '::') return []
    const { port } = this.#server.address() as AddressInfo
    return [`tcp://${host.includes(':') ? `[${host}]` : host}:${port}`]
  }

  canDial(url: string): boolean {
    return isContactUrl(url, ['tcp'])
  }

  /** Throws PORT_IN_USE and LISTEN_FAILED. */
  async start(): Promise<void> {
    const { listen } = this.#options
    const { publicUrl } = listen ?? {}
    if (publicUrl !== undefined && !this.canDial(publicUrl))
      throw transportError('LISTEN_FAILED', `publicUrl must be tcp://host:port: ${publicUrl}`)
    if (listen !== undefined) this.#server ??= await this.#listen(listen)
    this.#running = true
  }

  async stop(): Promise<void> {
    this.#running = false
    const server = this.#server
    this.#server = undefined
    const closed = server && new Promise((resolve) => server.close(resolve))
    await Promise.all([closed, this.#pool.stop()])
  }

  dial(request: DialRequest): Cancel {
    let told: ToldDial | undefined
    const { url = '' } = request
    return this.#pool.dial(request, {
      running: this.#running,
      address: addressOfUrl(asWebUrl(url)),
      connect: (onChannel, onFail) => {
        try {
          if (!this.canDial(url)) throw transportError('DIAL_FAILED', `not a TCP URL: ${JSON.stringify(url)}`)
          told = new ToldDial(request, new URL(asWebUrl(url)), this.#toldDials)
          return this.#connect(told, new URL(asWebUrl(url)))(onChannel, onFail)
        } catch (error) {
          this.#modules.clock.endOfTurn(() => onFail(asDialError(error, url)))
          return () => {}
        }
      },
      onDone: (outcome, error) => told?.done(outcome, error),
    })
  }

  #connect(told: ToldDial, { hostname, port }: URL): Connect<TcpChannel> {
    return (onChannel, onFail) => {
      told.begin()
      const socket = connect({
        host: hostname.replace(/^\[|\]$/g, ''),
        port: Number(port || 80),
        noDelay: true,
        lookup: checkedLookup((found) => told.choose(found)),
      })
      const failed = (error: Error): void => onFail(asDialError(error, `tcp://${hostname}:${port}`))
      socket.once('error', failed)
      socket.once('connect', () => {
        socket.off('error', failed)
        told.reached = socket.remoteAddress ?? told.reached
        onChannel(new TcpChannel(socket, this.#limits))
      })
      return () => {
        socket.removeAllListeners('connect')
        socket.destroy()
      }
    }
  }

  async #listen({ host, port }: Pick<ListenAddress, 'host' | 'port'>): Promise<Server> {
    const server = createServer({ noDelay: true }, (socket) => this.#accept(socket))
    await listen(server, host, port)
    return server
  }

  #accept(socket: Socket): void {
    const place = this.#admission.enter(socket.remoteAddress ?? '')
    if (place === undefined) return void socket.destroy()
    socket.once('close', () => this.#admission.leave(place))
    const channel = new TcpChannel(socket, this.#limits)
    place.onEvicted = () => channel.close(true)
    const { publicUrl, alsoKnownAs = [] } = this.#options.listen ?? {}
    const known = {
      ...(publicUrl && { publicUrl: asWebUrl(publicUrl) }),
      alsoKnownAs: alsoKnownAs.map(asWebUrl),
    }
    this.#pool.accept(channel, {
      onOpen: (connection) => {
        this.#admission.proven(place)
        place.onEvicted = () => connection.close('TOO_MANY_CONNECTIONS', 'another network needs the room')
        this.onInbound(connection)
      },
      onFail: () => {},
      isOwnAddress: ownAddresses(known, socket),
    })
  }
}
