import type { NodeId, UrgentMessage } from '@runnel/protocol'
import type { Connection, ConnectionEvents, DialRequest, SendMode, Transport } from '@runnel/transport'

/** Stands between a node and its connections: to watch what it receives, or to make it misbehave. */
export interface Tap {
  /** A packet that the node is about to be given. */
  received?(peerId: NodeId, type: number, body: Uint8Array): void
  /** What leaves instead of this packet; undefined for nothing, which the node does not notice. */
  sending?(peerId: NodeId, packet: Uint8Array): Uint8Array | undefined
  /** Whether an urgent message leaves; if not, the node does not notice. */
  sendingUrgent?(message: UrgentMessage): boolean
  /** A connection opened. */
  opened?(connection: Connection): void
}

/** A transport with a tap on each of its connections. */
export function tapped(transport: Transport, tap: Tap): Transport {
  const tapOn = (connection: Connection): Connection => {
    const tappedConnection = new TappedConnection(connection, tap)
    tap.opened?.(tappedConnection)
    return tappedConnection
  }
  const outer: Transport = {
    kind: transport.kind,
    get addresses() {
      return transport.addresses
    },
    canDial: (url) => transport.canDial(url),
    onInbound: () => {},
    start: () => transport.start(),
    stop: () => transport.stop(),
    dial: (request: DialRequest) =>
      transport.dial({ ...request, onOpen: (connection) => request.onOpen(tapOn(connection)) }),
  }
  transport.onInbound = (connection) => outer.onInbound(tapOn(connection))
  return outer
}

class TappedConnection implements Connection {
  readonly #inner: Connection
  readonly #tap: Tap

  constructor(inner: Connection, tap: Tap) {
    this.#inner = inner
    this.#tap = tap
  }

  get peerId() {
    return this.#inner.peerId
  }
  get peerRole() {
    return this.#inner.peerRole
  }
  get capabilities() {
    return this.#inner.capabilities
  }
  get transport() {
    return this.#inner.transport
  }
  get direction() {
    return this.#inner.direction
  }
  get remoteAddress() {
    return this.#inner.remoteAddress
  }
  get rttMs() {
    return this.#inner.rttMs
  }
  get answeredMs() {
    return this.#inner.answeredMs
  }
  get queuedBytes() {
    return this.#inner.queuedBytes
  }
  get writable() {
    return this.#inner.writable
  }
  get stats() {
    return this.#inner.stats
  }
  get events() {
    return this.#inner.events
  }

  set events(events: ConnectionEvents) {
    this.#inner.events = {
      onPacket: (type, body, whole) => {
        this.#tap.received?.(this.peerId, type, body)
        events.onPacket(type, body, whole)
      },
      onDrain: () => events.onDrain(),
      onUrgentDropped: (why, message) => events.onUrgentDropped?.(why, message),
      onUrgentRepeated: () => events.onUrgentRepeated?.(),
      onUrgentRate: () => events.onUrgentRate?.(),
      onClose: (reason) => events.onClose(reason),
    }
  }

  send(packet: Uint8Array, mode?: SendMode): boolean {
    const { sending } = this.#tap
    const instead = sending === undefined ? packet : sending(this.peerId, packet)
    return instead === undefined || this.#inner.send(instead, mode)
  }

  sendUrgent(message: UrgentMessage): boolean {
    return this.#tap.sendingUrgent?.(message) === false || this.#inner.sendUrgent(message)
  }

  urgentKbitPerSOf(publisher: string): number | undefined {
    return this.#inner.urgentKbitPerSOf(publisher)
  }

  close(code: string, text: string): void {
    this.#inner.close(code, text)
  }
}
