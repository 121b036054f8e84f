import { toNodeId, type Cancel, type LinkRole, type NodeId } from '@runnel/protocol'
import { connectionLimits } from '../connection/limits.ts'
import { ConnectionPool } from '../connection/connection-pool.ts'
import type { ConnectionModules } from '../connection/modules.ts'
import { transportError } from '../errors.ts'
import type { Connection, DialRequest, Transport } from '../ports.ts'
import type { MemoryChannel } from './memory-channel.ts'

/** What a transport needs from its MemoryNetwork. */
export interface MemoryExchange {
  /** Makes a node known under its id. */
  join(nodeId: NodeId, transport: MemoryTransport): void
  leave(nodeId: NodeId): void
  /**
   * Opens a channel. The other node has its end after one latency, the dialling one after two; then `onOpen` or `onFail` is
   * called, or neither when one of them is offline.
   */
  connect(
    from: MemoryTransport,
    to: NodeId,
    onOpen: (channel: MemoryChannel) => void,
    onFail: (text: string) => void,
  ): Cancel
}

export interface MemoryTransportOptions {
  readonly role: LinkRole
  /** Its kind in contacts, where it stands in for a transport that a test does not use. Default `memory`. */
  readonly kind?: string
  readonly network: MemoryExchange
}

/** Time limit for one dial in memory, handshake included. */
const memoryDialTimeoutMs = 15_000

/** One node's way into a MemoryNetwork. Nodes are dialled by id; a URL is not looked at. */
export class MemoryTransport implements Transport {
  readonly kind: string
  onInbound: (connection: Connection) => void = () => {}
  readonly #options: MemoryTransportOptions
  readonly #modules: ConnectionModules
  readonly #pool: ConnectionPool<MemoryChannel>
  readonly #dialsOf = new Map<NodeId, number>()
  #running = false

  constructor(options: MemoryTransportOptions, modules: ConnectionModules) {
    this.kind = options.kind ?? 'memory'
    this.#options = options
    this.#modules = modules
    this.#pool = new ConnectionPool({ role: options.role, dialTimeoutMs: memoryDialTimeoutMs }, modules)
  }

  get nodeId(): NodeId {
    return this.#modules.identity.nodeId
  }

  get url(): string {
    return this.#running ? `memory://${this.nodeId}` : ''
  }

  get addresses(): readonly string[] {
    return this.#running ? [this.url] : []
  }

  canDial(url: string): boolean {
    return url.startsWith('memory:')
  }

  get lowMarkBytes(): number {
    return connectionLimits(this.#modules.limits).lowMarkBytes
  }

  /** Counts the dials to each node, so that the randomness of a link depends on nothing else. */
  nextDialOf(peerId: NodeId): number {
    const count = (this.#dialsOf.get(peerId) ?? 0) + 1
    this.#dialsOf.set(peerId, count)
    return count
  }

  async start(): Promise<void> {
    this.#running = true
    this.#options.network.join(this.nodeId, this)
  }

  async stop(): Promise<void> {
    this.#running = false
    this.#options.network.leave(this.nodeId)
    await this.#pool.stop()
  }

  dial(request: DialRequest): Cancel {
    const peerId = request.peerId ?? toNodeId(request.url?.replace(/^memory:(\/\/)?/, '') ?? '')
    return this.#pool.dial(request, {
      running: this.#running,
      connect: (onChannel, onFail) =>
        this.#options.network.connect(this, peerId, onChannel, (text) =>
          onFail(transportError('DIAL_FAILED', `${peerId}: ${text}`)),
        ),
    })
  }

  /** Called by the network: another node dialled this one. */
  accept(channel: MemoryChannel): void {
    this.#pool.accept(channel, { onOpen: (connection) => this.onInbound(connection), onFail: () => {} })
  }
}
