import {
  decodePacketOf,
  encodePacket,
  packetKind,
  type Cancel,
  type NodeId,
  type NodeToTracker,
  type RunnelError,
  type TrackerToNode,
} from '@runnel/protocol'
import type { Connection, ConnectionLimits, Transport } from '@runnel/transport'
import { networkError, TrackerClosedError } from '../errors.ts'
import type { TrackerAddress } from '../ports.ts'

export interface TrackerConnectionEvents {
  onOpened(trackerId: NodeId): void
  /** A dial failed, or a connection ended. */
  onClosed(trackerId: NodeId, wasOpen: boolean, error: RunnelError): void
  onPacket(trackerId: NodeId, packet: TrackerToNode): void
  /** A packet of a later version of the protocol. */
  onUnknown(trackerId: NodeId, type: number): void
}

export interface TrackerConnectionsOptions {
  readonly dialTimeoutMs: number
  /** Limits of these connections that differ from those of links. */
  readonly limits: Partial<ConnectionLimits>
}

/** The connections to trackers, each dialled once at a time. */
export class TrackerConnections {
  readonly #transport: (url: string) => Transport | undefined
  readonly #options: TrackerConnectionsOptions
  readonly #events: TrackerConnectionEvents
  readonly #dials = new Map<NodeId, Cancel>()
  readonly #connections = new Map<NodeId, Connection>()

  constructor(
    options: TrackerConnectionsOptions,
    modules: { transport: (url: string) => Transport | undefined; events: TrackerConnectionEvents },
  ) {
    this.#options = options
    this.#transport = modules.transport
    this.#events = modules.events
  }

  get open(): number {
    return this.#connections.size
  }

  dial({ nodeId, url }: TrackerAddress): void {
    const transport = this.#transport(url)
    if (transport === undefined) return
    const { dialTimeoutMs, limits } = this.#options
    const cancel = transport.dial({
      peerId: nodeId,
      url,
      timeoutMs: dialTimeoutMs,
      limits,
      onOpen: (connection) => this.#opened(nodeId, connection),
      onFail: (error) => {
        this.#dials.delete(nodeId)
        this.#events.onClosed(nodeId, false, error)
      },
    })
    this.#dials.set(nodeId, cancel)
  }

  /** Also gives up dialling. True when there was a connection. */
  hangUp(trackerId: NodeId): boolean {
    const wasOpen = this.#connections.has(trackerId)
    this.#dials.get(trackerId)?.()
    this.#dials.delete(trackerId)
    this.#end(trackerId, 'UNUSED', 'no stream part needs this tracker')
    return wasOpen
  }

  /** False when there is no connection or its queue is full. */
  send(trackerId: NodeId, packet: NodeToTracker): boolean {
    return this.#connections.get(trackerId)?.send(encodePacket(packet)) ?? false
  }

  /** Trackers that are connected. */
  get ids(): NodeId[] {
    return [...this.#connections.keys()]
  }

  /** The tracker broke the protocol: the connection ends, and is dialled again later. */
  refuse(trackerId: NodeId, error: RunnelError): void {
    this.#end(trackerId, error.code, error.message)
    this.#events.onClosed(trackerId, true, error)
  }

  #opened(trackerId: NodeId, connection: Connection): void {
    this.#dials.delete(trackerId)
    this.#connections.set(trackerId, connection)
    connection.events = {
      onPacket: (type, body) => this.#onPacket(trackerId, connection, type, body),
      onDrain: () => undefined,
      onClose: ({ code, text, remote }) => {
        if (this.#connections.get(trackerId) !== connection) return
        this.#connections.delete(trackerId)
        const error = remote
          ? new TrackerClosedError(code, text)
          : networkError('TRACKER_LOST', `closed: ${code} ${text}`)
        this.#events.onClosed(trackerId, true, error)
      },
    }
    if (connection.peerRole === 'tracker') this.#events.onOpened(trackerId)
    else this.refuse(trackerId, networkError('NOT_A_TRACKER', trackerId))
  }

  #onPacket(trackerId: NodeId, connection: Connection, type: number, body: Uint8Array): void {
    if (this.#connections.get(trackerId) !== connection) return
    if (packetKind(type) === undefined) return this.#events.onUnknown(trackerId, type)
    let packet: TrackerToNode | undefined
    try {
      packet = decodePacketOf(['fromTracker', 'throughTracker'], type, body)
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error)
      return this.refuse(trackerId, networkError('TRACKER_LOST', `it sent what cannot be read: ${detail}`))
    }
    if (packet !== undefined) return this.#events.onPacket(trackerId, packet)
    this.refuse(trackerId, networkError('TRACKER_LOST', `it sent a packet of type ${type}`))
  }

  #end(trackerId: NodeId, code: string, text: string): void {
    const connection = this.#connections.get(trackerId)
    this.#connections.delete(trackerId)
    connection?.close(code, text)
  }
}
