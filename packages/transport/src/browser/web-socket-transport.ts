/// <reference lib="dom" />
import type { Cancel } from '@runnel/protocol'
import { ConnectionPool } from '../connection/connection-pool.ts'
import { connectionLimits, type ConnectionLimits } from '../connection/limits.ts'
import type { ConnectionModules } from '../connection/modules.ts'
import { transportError } from '../errors.ts'
import type { Connection, DialRequest, Transport } from '../ports.ts'
import { ToldDial } from '../ws/told-dial.ts'
import { ToldDials, type DialModules } from '../ws/told-dials.ts'
import {
  webSocketDefaults,
  type WebSocketCounters,
  type WebSocketOptions,
  type WebSocketSettings,
} from '../ws/ws-options.ts'
import { addressOfUrl } from '../ws/socket-address.ts'
import { connectSocket } from './connect-socket.ts'
import type { SocketChannel } from './socket-channel.ts'

/** Links over the browser's WebSockets, which dial and cannot be dialled. */
export class WebSocketTransport implements Transport {
  readonly kind = 'websocket'
  readonly addresses = []
  onInbound: (connection: Connection) => void = () => {}
  readonly counters: WebSocketCounters = {
    opened: 0,
    refused: 0,
    evicted: 0,
    failedHandshakes: 0,
    failedDials: 0,
  }
  readonly #options: WebSocketSettings
  readonly #limits: ConnectionLimits
  readonly #modules: ConnectionModules
  readonly #pool: ConnectionPool<SocketChannel>
  readonly #toldDials: ToldDials
  #running = false

  constructor(options: WebSocketOptions, modules: DialModules) {
    this.#options = { ...webSocketDefaults, ...options }
    this.#limits = connectionLimits(modules.limits)
    this.#modules = modules
    this.#pool = new ConnectionPool(this.#options, modules)
    this.#toldDials =
      modules.toldDials ?? new ToldDials({ isInside: options.dialsLocalAddresses }, modules.clock)
  }

  /** Throws NO_WEBSOCKET and LISTEN_FAILED. */
  async start(): Promise<void> {
    if (typeof WebSocket !== 'function') throw transportError('NO_WEBSOCKET')
    if (this.#options.listen) throw transportError('LISTEN_FAILED', 'a page cannot be dialled')
    this.#running = true
  }

  async stop(): Promise<void> {
    this.#running = false
    await this.#pool.stop()
  }

  canDial(url: string): boolean {
    return addressOfUrl(url) !== ''
  }

  dial(request: DialRequest): Cancel {
    const modules = { clock: this.#modules.clock, limits: this.#limits }
    let told: ToldDial | undefined
    return this.#pool.dial(request, {
      running: this.#running,
      address: addressOfUrl(request.url),
      connect: (onChannel, onFail) => {
        const beforeDial = (url: URL): void => {
          told = new ToldDial(request, url, this.#toldDials)
          told.begin()
        }
        return connectSocket({ url: request.url, beforeDial }, modules, onChannel, onFail)
      },
      onDone: (outcome, error) => {
        told?.done(outcome, error)
        if (outcome === 'open') this.counters.opened++
        if (outcome === 'failed') this.counters.failedDials++
      },
    })
  }
}
