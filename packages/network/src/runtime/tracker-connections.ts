import {
  decodePacketOf,
  encodePacket,
  packetKind,
  reportsCapability,
  RareMap,
  RareSet,
  type About,
  type Cancel,
  type Contact,
  type NodeId,
  type NodeToTracker,
  type RunnelError,
  type TrackerToNode,
} from '@runnel/protocol'
import type { Connection, ConnectionLimits, Transport } from '@runnel/transport'
import { networkError, TrackerClosedError } from '../errors.ts'
import type { Way } from '../core/tracker-link/way.ts'

export interface TrackerConnectionEvents {
  onOpened(way: Way): void
  /** A dial failed, or a connection ended; without an error where this node stops. */
  onClosed(way: Way, wasOpen: boolean, error: RunnelError | undefined): void
  onPacket(way: Way, packet: TrackerToNode): void
  /** A packet of a later version of the protocol. */
  onUnknown(way: Way, type: number): void
}

export interface TrackerConnectionsOptions {
  readonly dialTimeoutMs: number
  /** Overrides of the limits of links, for these connections. */
  readonly limits: Partial<ConnectionLimits>
  /** Another process may have the key of this node. Where none can, a tracker that says so has only closed the connection. */
  readonly isKeyShared: boolean
  /** What trackers are told of this node. */
  readonly about: About
}

interface Open {
  readonly way: Way
  readonly connection: Connection
  /** Whether the tracker was told of this node, or does not want to know. */
  isIntroduced: boolean
  /** Whether the tracker has sent anything. */
  hasSpoken: boolean
}

/** How a tracker says that another connection with the key of this node took the place of this one. */
const replaced = 'REPLACED'
/** How a transport ends its connections when it stops. */
const stopped = 'SHUTTING_DOWN'

/** What a connection ended by, at this end; undefined where this node stops, as nothing is wrong then. */
function closedHere(code: string, text: string): RunnelError | undefined {
  return code === stopped ? undefined : networkError('TRACKER_LOST', `closed: ${code} ${text}`)
}

/** The connections to trackers, by way, each dialled once at a time. */
export class TrackerConnections {
  readonly #transport: (url: string) => Transport | undefined
  readonly #options: TrackerConnectionsOptions
  readonly #events: TrackerConnectionEvents
  readonly #dials = new RareMap<string, { readonly way: Way; readonly cancel: Cancel }>()
  readonly #connections = new Map<string, Open>()

  /** Trackers that were dialled by another way while there was one: they may have replaced one of ours by the other. */
  readonly #rivals = new RareSet<NodeId>()

  constructor(
    options: TrackerConnectionsOptions,
    modules: { transport: (url: string) => Transport | undefined; events: TrackerConnectionEvents },
  ) {
    this.#options = options
    this.#transport = modules.transport
    this.#events = modules.events
  }

  /** Trackers that are connected. */
  get open(): number {
    return new Set(Array.from(this.#connections.values(), ({ way }) => way.trackerId)).size
  }

  dial(way: Way): void {
    const transport = this.#transport(way.url)
    if (transport === undefined) return
    const { dialTimeoutMs, limits } = this.#options
    if (this.#isInUse(way.trackerId)) this.#rivals.add(way.trackerId)
    const cancel = transport.dial({
      peerId: way.trackerId,
      url: way.url,
      timeoutMs: dialTimeoutMs,
      limits,
      onOpen: (connection) => this.#opened(way, connection),
      onFail: (error) => {
        this.#dials.delete(way.key)
        this.#forget(way)
        this.#events.onClosed(way, false, error)
      },
    })
    this.#dials.set(way.key, { way, cancel })
  }

  /** Also gives up dialling. True when there was a connection. */
  hangUp(way: Way): boolean {
    return this.#end(way, 'UNUSED', 'no stream part needs this connection')
  }

  /** False when there is no connection or its queue is full. */
  send(way: Way, packet: NodeToTracker): boolean {
    const connection = this.#connections.get(way.key)?.connection
    if (connection === undefined) return false
    const isFull =
      packet.type === 'status' && packet.neighbours.some(({ transport }) => transport !== undefined)
    const takesFull = connection.capabilities.has(reportsCapability)
    return connection.send(encodePacket(isFull && takesFull ? { ...packet, type: 'fullStatus' } : packet))
  }

  /** Whether this node and the tracker both have a capability; false when there is no connection. */
  hasCapability(way: Way, name: string): boolean {
    return this.#connections.get(way.key)?.connection.capabilities.has(name) === true
  }

  /** Says how this node is reached, and once on a connection what it is. */
  introduce(way: Way, contact: Contact): void {
    const open = this.#connections.get(way.key)
    if (open === undefined) return
    const isSent = this.send(way, { type: 'nodeInfo', contact })
    if (!isSent || open.isIntroduced) return
    open.isIntroduced = true
    if (open.connection.capabilities.has(reportsCapability)) this.send(way, this.#options.about)
  }

  /** Whether the tracker is connected by any way. */
  sendTo(trackerId: NodeId, packet: NodeToTracker): boolean {
    const way = this.waysTo(trackerId).at(-1)
    return way !== undefined && this.send(way, packet)
  }

  /** Whether the tracker has sent anything by this way: where it names ICE servers, it does so first. */
  hasSpoken(way: Way): boolean {
    return this.#connections.get(way.key)?.hasSpoken === true
  }

  /** To a tracker and back; undefined while it is not connected, or that was not measured. */
  rttMs(trackerId: NodeId): number | undefined {
    const way = this.waysTo(trackerId).at(-1)
    return way && this.#connections.get(way.key)?.connection.rttMs
  }

  /** The ways by which a tracker is connected: briefly two, when one replaces the other. */
  waysTo(trackerId: NodeId): Way[] {
    return Array.from(this.#connections.values(), ({ way }) => way).filter(
      (way) => way.trackerId === trackerId,
    )
  }

  /** The tracker broke the protocol, or handling it failed: the connection ends, and is dialled again later. */
  refuse(way: Way, error: RunnelError): void {
    const wasOpen = this.#end(way, error.code, error.message)
    this.#events.onClosed(way, wasOpen, error)
  }

  #opened(way: Way, connection: Connection): void {
    this.#dials.delete(way.key)
    this.#connections.set(way.key, { way, connection, isIntroduced: false, hasSpoken: false })
    connection.events = {
      onPacket: (type, body) => this.#onPacket(way, connection, type, body),
      onDrain: () => undefined,
      onClose: ({ code, text, remote }) => {
        if (!this.#isOpen(way, connection)) return
        this.#connections.delete(way.key)
        const error = remote ? this.#closedBy(way.trackerId, code, text) : closedHere(code, text)
        this.#forget(way)
        this.#events.onClosed(way, true, error)
      },
    }
    if (connection.peerRole === 'tracker') this.#events.onOpened(way)
    else this.refuse(way, networkError('NOT_A_TRACKER', way.trackerId))
  }

  #closedBy(trackerId: NodeId, code: string, text: string): RunnelError {
    const isOfAnother = this.#options.isKeyShared && !this.#rivals.has(trackerId)
    if (code !== replaced || !isOfAnother) return new TrackerClosedError(code, text)
    return networkError('NODE_REPLACED', `says the tracker ${trackerId}`)
  }

  #isInUse(trackerId: NodeId): boolean {
    const all = [...this.#connections.values(), ...this.#dials.values()]
    return all.some(({ way }) => way.trackerId === trackerId)
  }

  #forget({ trackerId }: Way): void {
    if (!this.#isInUse(trackerId)) this.#rivals.delete(trackerId)
  }

  #isOpen(way: Way, connection: Connection): boolean {
    return this.#connections.get(way.key)?.connection === connection
  }

  #onPacket(way: Way, connection: Connection, type: number, body: Uint8Array): void {
    if (!this.#isOpen(way, connection)) return
    if (packetKind(type) === undefined) return this.#events.onUnknown(way, type)
    let packet: TrackerToNode | undefined
    try {
      packet = decodePacketOf(['fromTracker', 'throughTracker'], type, body)
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error)
      return this.refuse(way, networkError('TRACKER_LOST', `it sent a malformed packet: ${detail}`))
    }
    if (packet !== undefined) return this.#heard(way, packet)
    this.refuse(way, networkError('TRACKER_LOST', `it sent a packet of type ${type}`))
  }

  #heard(way: Way, packet: TrackerToNode): void {
    const open = this.#connections.get(way.key)
    if (open !== undefined) open.hasSpoken = true
    this.#events.onPacket(way, packet)
  }

  #end(way: Way, code: string, text: string): boolean {
    const open = this.#connections.get(way.key)
    this.#connections.delete(way.key)
    this.#dials.get(way.key)?.cancel()
    this.#dials.delete(way.key)
    this.#forget(way)
    open?.connection.close(code, text)
    return open !== undefined
  }
}
