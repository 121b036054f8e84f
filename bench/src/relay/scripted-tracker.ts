import {
  decodePacket,
  encodePacket,
  type Contact,
  type Crypto,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { WebSocketTransport, type Connection } from '@runnel/transport'
import { newIdentity } from '../swarm.ts'

/** A tracker that orders a fixed line of nodes (first – second – third), so that the middle one relays everything. */
export class LineTracker {
  readonly nodeId: NodeId
  readonly #transport: WebSocketTransport
  readonly #connections = new Map<NodeId, Connection>()
  readonly #contacts = new Map<NodeId, Contact>()
  readonly #joined = new Set<NodeId>()
  line: readonly NodeId[] = []
  streamPartId: StreamPartId | undefined

  constructor(crypto: Crypto) {
    const identity = newIdentity(crypto)
    this.nodeId = identity.nodeId
    this.#transport = new WebSocketTransport(
      { listen: { host: '127.0.0.1', port: 0 }, role: 'tracker' },
      { identity, crypto, clock: systemClock, random: systemRandom },
    )
    this.#transport.onInbound = (connection) => this.#accept(connection)
  }

  get url(): string {
    return this.#transport.url
  }

  start = () => this.#transport.start()
  stop = () => this.#transport.stop()

  #accept(connection: Connection): void {
    const from = connection.peerId
    this.#connections.set(from, connection)
    connection.events = {
      onPacket: (type, body) => this.#handle(from, type, body),
      onDrain: () => {},
      onClose: () => this.#connections.delete(from),
    }
  }

  #handle(from: NodeId, type: number, body: Uint8Array): void {
    const packet = decodePacket(type, body)
    if (packet.type === 'nodeInfo') this.#contacts.set(from, packet.contact)
    if (packet.type === 'signal') {
      this.#connections.get(packet.peerId)?.send(encodePacket({ ...packet, peerId: from }))
    }
    if (packet.type === 'status' && !this.#joined.has(from)) {
      this.#joined.add(from)
      if (this.#joined.size === this.line.length) this.line.forEach((_, index) => this.#instruct(index))
    }
  }

  #instruct(index: number): void {
    const [node, ...neighbours] = [this.line[index], this.line[index - 1], this.line[index + 1]]
    const streamPartId = this.streamPartId
    if (!node || !streamPartId) return
    const wanted = neighbours.flatMap((nodeId) => {
      const contact = nodeId && this.#contacts.get(nodeId)
      return nodeId && contact ? [{ nodeId, contact }] : []
    })
    this.#connections
      .get(node)
      ?.send(encodePacket({ type: 'instruction', streamPartId, counter: 1, neighbours: wanted }))
  }
}
