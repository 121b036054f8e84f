/// <reference lib="dom" />
import { ConnectionPool } from '../../../transport/src/connection/connection-pool.ts'
import { connectionLimits } from '../../../transport/src/connection/limits.ts'
import type { ConnectionModules } from '../../../transport/src/connection/modules.ts'
import type { Connection, DialRequest, Transport } from '../../../transport/src/ports.ts'
import { SocketChannel } from '../../../transport/src/browser/socket-channel.ts'
import { WebSocketTransport } from '../../../transport/src/browser/web-socket-transport.ts'

/** The browser's WebSocket transport, which a relay lets others dial: a page cannot listen. */
export class RelayedTransport implements Transport {
  readonly kind = 'websocket'
  onInbound: (connection: Connection) => void = () => {}
  readonly #relayUrl: string
  readonly #name: string
  readonly #modules: ConnectionModules
  readonly #dialler: WebSocketTransport
  readonly #accepted: ConnectionPool<SocketChannel>
  #control: WebSocket | undefined

  constructor(options: { readonly relayUrl: string; readonly name: string }, modules: ConnectionModules) {
    this.#relayUrl = options.relayUrl
    this.#name = options.name
    this.#modules = modules
    this.#dialler = new WebSocketTransport({ role: 'node' }, modules)
    this.#accepted = new ConnectionPool({ role: 'node', dialTimeoutMs: 15_000 }, modules)
  }

  get url(): string {
    return `${this.#relayUrl}/dial/${this.#name}`
  }

  get addresses(): readonly string[] {
    return [this.url]
  }

  canDial(url: string): boolean {
    return this.#dialler.canDial(url)
  }

  async start(): Promise<void> {
    await this.#dialler.start()
    const control = new WebSocket(`${this.#relayUrl}/listen/${this.#name}`)
    control.onmessage = ({ data }) => this.#accept(String(data))
    await new Promise((resolve) => (control.onopen = resolve))
    this.#control = control
  }

  async stop(): Promise<void> {
    const control = this.#control
    this.#control = undefined
    const closed = new Promise((resolve) => (control ? (control.onclose = resolve) : resolve(undefined)))
    control?.close()
    await Promise.all([this.#dialler.stop(), this.#accepted.stop(), closed])
  }

  dial(request: DialRequest): () => void {
    return this.#dialler.dial(request)
  }

  /** Has the relay do something to the links that others dialled. */
  fault(kind: 'silence' | 'stall' | 'flow' | 'cut'): void {
    this.#control?.send(kind)
  }

  #accept(id: string): void {
    const socket = new WebSocket(`${this.#relayUrl}/accept/${id}`)
    const { clock, limits } = this.#modules
    socket.onopen = () =>
      this.#accepted.accept(new SocketChannel(socket, { clock, limits: connectionLimits(limits) }), {
        onOpen: (connection) => this.onInbound(connection),
        onFail: () => {},
      })
  }
}
