import {
  decodePacket,
  encodePacket,
  PacketType,
  type Crypto,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { contactOf, WebSocketTransport, type Connection } from '@runnel/transport'
import { newIdentity } from '../swarm.ts'

/** A neighbour of the node under test that only brings what was signed before, and counts what comes: it costs next to nothing. */
interface Neighbour {
  readonly nodeId: NodeId
  readonly transport: WebSocketTransport
  connection: Connection | undefined
}

/** A tracker that names its neighbours to one node, and the neighbours, which attach as the node does. */
export class Neighbours {
  readonly trackerId: NodeId
  /** Called with each data packet that the node sends to a neighbour. */
  onData: (neighbour: number, packet: Uint8Array) => void = () => {}
  readonly #tracker: WebSocketTransport
  readonly #neighbours: readonly Neighbour[]

  constructor(count: number, crypto: Crypto) {
    const wire = { crypto, clock: systemClock, random: systemRandom }
    const listen = { host: '127.0.0.1', port: 0 }
    const identity = newIdentity(crypto)
    this.trackerId = identity.nodeId
    this.#tracker = new WebSocketTransport({ listen, role: 'tracker' }, { ...wire, identity })
    this.#tracker.onInbound = (connection) => this.#serve(connection)
    this.#neighbours = Array.from({ length: count }, (_, index) => {
      const own = newIdentity(crypto)
      const transport = new WebSocketTransport({ listen, role: 'node' }, { ...wire, identity: own })
      transport.onInbound = (connection) => this.#attach(index, connection)
      return { nodeId: own.nodeId, transport, connection: undefined }
    })
  }

  get trackerUrl(): string {
    return this.#tracker.url
  }

  async start(): Promise<void> {
    await this.#tracker.start()
    for (const { transport } of this.#neighbours) await transport.start()
  }

  async stop(): Promise<void> {
    for (const { transport } of this.#neighbours) await transport.stop()
    await this.#tracker.stop()
  }

  /** Has a neighbour send a packet. */
  send(neighbour: number, packet: Uint8Array): void {
    if (this.#neighbours[neighbour]?.connection?.send(packet) !== true)
      throw new Error('a link takes no more')
  }

  #serve(connection: Connection): void {
    connection.events = {
      onPacket: (type, body) => {
        const packet = decodePacket(type, body)
        if (packet.type === 'status') this.#instruct(connection, packet.streamPartId)
      },
      onDrain: () => {},
      onClose: () => {},
    }
  }

  #instruct(connection: Connection, streamPartId: StreamPartId): void {
    const neighbours = this.#neighbours.map(({ nodeId, transport }) => ({
      nodeId,
      contact: contactOf([transport]),
    }))
    connection.send(encodePacket({ type: 'instruction', streamPartId, counter: 1, neighbours }))
  }

  #attach(index: number, connection: Connection): void {
    const neighbour = this.#neighbours[index]
    if (neighbour !== undefined) neighbour.connection = connection
    connection.events = {
      onPacket: (type, body, whole) => {
        if (type === PacketType.data) return this.onData(index, whole)
        if (type !== PacketType.attach) return
        const packet = decodePacket(type, body)
        if (packet.type !== 'attach') return
        connection.send(encodePacket({ ...packet, sinceMs: 0, heads: [] }))
      },
      onDrain: () => {},
      onClose: () => {},
    }
  }
}
