import {
  decodeBatch,
  decodePacket,
  encodePacket,
  packetBytes,
  PacketType,
  type Identity,
  type Instruction,
  type MessageBatch,
  type NeighbourReport,
  type NodeId,
  type Packet,
  type Capability,
  type Thin,
  type StreamPartId,
} from '@runnel/protocol'
import type { Connection, Transport } from '@runnel/transport'
import type { World } from '../../../world/world.ts'

export interface RawMemberOptions {
  readonly name: string
  readonly streamParts: readonly StreamPartId[]
  /** Default none. */
  readonly capabilities?: readonly Capability[]
}

interface Membership {
  counter: number
  wanted: ReadonlySet<NodeId>
  readonly attached: Set<NodeId>
}

/** A status follows an instruction after this long, as links take a while to open. */
const settlesMs = 300
const contact = { addresses: [{ kind: 'memory', text: 'memory://member' }], dials: ['memory'] }

/**
 * A member of stream parts without a node behind it: it joins, connects as instructed and becomes a neighbour; everything else it
 * sends is up to its owner. It forwards nothing.
 */
export class RawMember {
  readonly identity: Identity
  /** What it reports about its neighbours; the truth, unless it is made to lie. */
  reports: (id: StreamPartId, attached: readonly NodeId[]) => readonly NeighbourReport[]
  /** A batch of another publisher came. */
  onData: (packet: Uint8Array) => void = () => {}
  /** The same, where it is one: other attackers send what none can be read from. */
  onBatch: (batch: MessageBatch) => void = () => {}
  /** A neighbour asks it to flood less. */
  onThin: (peerId: NodeId, packet: Thin) => void = () => {}
  readonly #world: World
  readonly #transport: Transport
  readonly #connections = new Map<NodeId, Connection>()
  readonly #memberships: ReadonlyMap<StreamPartId, Membership>
  #isStopped = false

  constructor({ name, streamParts, capabilities = [] }: RawMemberOptions, world: World) {
    this.#world = world
    this.identity = world.identity(name)
    this.#transport = world.transport(name, 'node', capabilities)
    this.#memberships = new Map(
      streamParts.map((id) => [id, { counter: 0, wanted: new Set<NodeId>(), attached: new Set<NodeId>() }]),
    )
    this.reports = (_, attached) => attached.map((nodeId) => ({ nodeId, rttMs: 10 }))
  }

  get nodeId(): NodeId {
    return this.identity.nodeId
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  async start(): Promise<void> {
    this.#transport.onInbound = (connection) => this.#opened(connection)
    await this.#transport.start()
    this.dial(this.#world.trackerId)
  }

  stop(): void {
    this.#isStopped = true
    void this.#transport.stop()
  }

  dial(peerId: NodeId): void {
    if (this.#isStopped || this.#connections.has(peerId)) return
    this.#transport.dial({ peerId, onOpen: (connection) => this.#opened(connection), onFail: () => {} })
  }

  attached(id: StreamPartId): readonly NodeId[] {
    return [...(this.#memberships.get(id)?.attached ?? [])]
  }

  /** Says where it stands, as `reports` has it. */
  status(id: StreamPartId): void {
    const { counter } = this.#memberships.get(id) ?? { counter: 0 }
    const neighbours = this.reports(id, this.attached(id)).slice(0, 64)
    this.send(this.#world.trackerId, {
      type: 'status',
      streamPartId: id,
      counter,
      neighbours,
      failed: [],
    })
  }

  send(peerId: NodeId, packet: Packet): void {
    this.sendBytes(peerId, encodePacket(packet))
  }

  sendBytes(peerId: NodeId, packet: Uint8Array): void {
    this.#connections.get(peerId)?.send(packet)
  }

  /** A batch, to all its neighbours in the stream part or to some of them. */
  flood(id: StreamPartId, batch: Uint8Array, to = this.attached(id)): void {
    const packet = packetBytes(PacketType.data, batch)
    for (const peerId of to) this.sendBytes(peerId, packet)
  }

  #opened(connection: Connection): void {
    const { peerId, peerRole } = connection
    this.#connections.set(peerId, connection)
    connection.events = {
      onPacket: (type, body, whole) => this.#received(peerId, type, body, whole),
      onDrain: () => {},
      onClose: () => this.#closed(peerId, connection),
    }
    if (peerRole === 'tracker') {
      this.send(peerId, { type: 'nodeInfo', contact })
      for (const id of this.#memberships.keys()) this.status(id)
    } else for (const [id, { wanted }] of this.#memberships) if (wanted.has(peerId)) this.#attach(peerId, id)
  }

  #closed(peerId: NodeId, connection: Connection): void {
    if (this.#connections.get(peerId) !== connection) return
    this.#connections.delete(peerId)
    for (const { attached } of this.#memberships.values()) attached.delete(peerId)
    if (peerId === this.#world.trackerId) this.#world.clock.schedule(1_000, () => this.dial(peerId))
  }

  #received(peerId: NodeId, type: number, body: Uint8Array, whole: Uint8Array): void {
    if (type === PacketType.data) return this.#receivedData(whole.slice(), body.length)
    const about: readonly number[] = [
      PacketType.attach,
      PacketType.detach,
      PacketType.instruction,
      PacketType.thin,
    ]
    if (!about.includes(type)) return
    const packet = decodePacket(type, body)
    if (packet.type === 'thin') this.onThin(peerId, packet)
    if (packet.type === 'instruction') this.#instructed(packet)
    if (packet.type === 'detach') this.#memberships.get(packet.streamPartId)?.attached.delete(peerId)
    if (packet.type !== 'attach') return
    const membership = this.#memberships.get(packet.streamPartId)
    if (membership?.attached.has(peerId) !== false) return
    membership.attached.add(peerId)
    this.#attach(peerId, packet.streamPartId)
  }

  #receivedData(packet: Uint8Array, bodyBytes: number): void {
    this.onData(packet)
    let batch: MessageBatch
    try {
      batch = decodeBatch(packet.subarray(packet.length - bodyBytes))
    } catch {
      return
    }
    this.onBatch(batch)
  }

  #instructed({ streamPartId, counter, neighbours }: Instruction): void {
    const membership = this.#memberships.get(streamPartId)
    if (membership === undefined || counter <= membership.counter) return
    membership.counter = counter
    membership.wanted = new Set(neighbours.map(({ nodeId }) => nodeId))
    for (const peerId of membership.wanted) {
      if (this.#connections.has(peerId)) this.#attach(peerId, streamPartId)
      else this.dial(peerId)
    }
    this.#world.clock.schedule(settlesMs, () => this.status(streamPartId))
  }

  #attach(peerId: NodeId, streamPartId: StreamPartId): void {
    this.send(peerId, { type: 'attach', streamPartId, sinceMs: 0, heads: [] })
  }
}
