import {
  buildBatch,
  countsCapability,
  createIdentity,
  decodePacket,
  encodePacket,
  loadCrypto,
  seededRandom,
  toStreamId,
  toStreamPartId,
  type AskCount,
  type BuiltBatch,
  type Clock,
  type Contact,
  type Extension,
  type FindStorage,
  type Identity,
  type MessageRef,
  type NodeId,
  type Packet,
  type Status,
  type StreamPartId,
} from '@runnel/protocol'
import {
  MemoryNetwork,
  VirtualClock,
  type Connection,
  type MemoryNetworkOptions,
  type Transport,
} from '@runnel/transport'
import { createNetworkNode, type NetworkNodeModules, type NetworkNodeOptions } from './create-network-node.ts'
import type { Delivery, NetworkNode, PublisherPolicy, TrackerAddress, TrackerDirectory } from './ports.ts'

export const crypto = await loadCrypto()
export const streamId = toStreamId(`0x${'b'.repeat(40)}/test`)
export const partId = toStreamPartId(streamId, 0)

export const identityOf = (name: string): Identity =>
  createIdentity(seededRandom(`key of ${name}`).bytes(32), crypto)

export const everybodyMay: PublisherPolicy = { check: () => 'allowed', resolve: () => Promise.resolve() }

export const oneTracker = (address: TrackerAddress): TrackerDirectory => ({
  trackersFor: () => [address],
  onChange: () => () => undefined,
})

/** Signs messages of one chain, each after the one before. */
export class TestPublisher {
  readonly identity: Identity
  readonly #clock: Clock
  #previous: MessageRef | undefined

  constructor(name: string, clock: Clock) {
    this.identity = identityOf(name)
    this.#clock = clock
  }

  next(content: string, part = 0, extensions?: readonly Extension[]): BuiltBatch {
    return this.batchOf([content], part, extensions)
  }

  /** One batch with several messages. */
  batchOf(contents: readonly string[], part = 0, extensions?: readonly Extension[]): BuiltBatch {
    const messages = contents.map((content) => this.#message(content, extensions))
    const chain = { streamId, partition: part, publisherId: this.identity.nodeId, messageChainId: 'test' }
    return buildBatch({ chain, messages }, crypto, this.identity)
  }

  #message(content: string, extensions: readonly Extension[] | undefined) {
    const now = this.#clock.now()
    const again = this.#previous?.timestamp === now
    const place = { timestamp: now, sequenceNumber: again ? (this.#previous?.sequenceNumber ?? 0) + 1 : 0 }
    const message = {
      ...place,
      previous: this.#previous,
      contentType: 2,
      encryptionType: 0,
      groupKeyId: '',
      extensions,
      content: new TextEncoder().encode(content),
    }
    this.#previous = place
    return message
  }
}

/**
 * A tracker that a test can read: nodes of a stream part stand in a ring in the order they came, and each is told to
 * connect to its two neighbours on either side. Signalling goes to whom it names.
 */
export class ScriptedTracker {
  readonly statuses: { from: NodeId; status: Status }[] = []
  /** Who said that they store. */
  readonly storing = new Set<NodeId>()
  readonly #connections = new Map<NodeId, Connection>()
  readonly #contacts = new Map<NodeId, Contact>()
  readonly #members = new Map<StreamPartId, NodeId[]>()
  readonly #told = new Map<string, { counter: number; neighbours: string }>()
  onAskCount: (from: NodeId, packet: AskCount) => void = () => {}
  /** Off, for tests that give the instructions themselves. */
  instructing = true

  constructor(transport: Transport) {
    transport.onInbound = (connection) => {
      const { peerId } = connection
      this.#connections.set(peerId, connection)
      connection.events = {
        onPacket: (type, body) => this.#onPacket(peerId, decodePacket(type, body)),
        onDrain: () => undefined,
        onClose: () => this.#onClose(peerId, connection),
      }
    }
  }

  /** Sends a packet to a connected node. */
  send(nodeId: NodeId, packet: Packet): void {
    this.#connections.get(nodeId)?.send(encodePacket(packet))
  }

  lastStatus(nodeId: NodeId): Status | undefined {
    return this.statuses.findLast(({ from }) => from === nodeId)?.status
  }

  #onPacket(from: NodeId, packet: Packet): void {
    if (packet.type === 'nodeInfo') this.#contacts.set(from, packet.contact)
    else if (packet.type === 'signal') this.send(packet.peerId, { ...packet, peerId: from })
    else if (packet.type === 'leave') this.#remove(packet.streamPartId, from)
    else if (packet.type === 'storing') this.storing[packet.storing ? 'add' : 'delete'](from)
    else if (packet.type === 'findStorage') this.#tellStorage(from, packet)
    else if (packet.type === 'askCount') this.onAskCount(from, packet)
    else if (packet.type === 'status') {
      this.statuses.push({ from, status: packet })
      const members = this.#members.get(packet.streamPartId) ?? []
      if (members.includes(from)) return
      this.#members.set(packet.streamPartId, [...members, from])
      this.#instruct(packet.streamPartId)
    }
  }

  #tellStorage(to: NodeId, { requestId, streamPartId }: FindStorage): void {
    const nodes = [...this.storing].map((nodeId) => ({
      nodeId,
      contact: this.#contacts.get(nodeId) ?? memoryContact,
    }))
    this.send(to, { type: 'storageNodes', requestId, streamPartId, nodes })
  }

  #onClose(nodeId: NodeId, connection: Connection): void {
    if (this.#connections.get(nodeId) !== connection) return
    this.#connections.delete(nodeId)
    for (const streamPartId of this.#members.keys()) this.#remove(streamPartId, nodeId)
  }

  #remove(streamPartId: StreamPartId, nodeId: NodeId): void {
    const members = this.#members.get(streamPartId) ?? []
    if (!members.includes(nodeId)) return
    this.#members.set(
      streamPartId,
      members.filter((member) => member !== nodeId),
    )
    this.#instruct(streamPartId)
  }

  #instruct(streamPartId: StreamPartId): void {
    if (!this.instructing) return
    const members = this.#members.get(streamPartId) ?? []
    members.forEach((nodeId, at) => {
      const around = [1, 2, members.length - 1, members.length - 2].map(
        (step) => members[(at + step) % members.length],
      )
      const wanted = [...new Set(around)].filter(
        (peer): peer is NodeId => peer !== undefined && peer !== nodeId,
      )
      const key = `${streamPartId} ${nodeId}`
      const before = this.#told.get(key)
      const neighbours = wanted.toSorted().join()
      if (before?.neighbours === neighbours) return
      const counter = (before?.counter ?? 0) + 1
      this.#told.set(key, { counter, neighbours })
      const contactOf = (peer: NodeId) => this.#contacts.get(peer) ?? memoryContact
      this.send(nodeId, {
        type: 'instruction',
        streamPartId,
        counter,
        neighbours: wanted.map((peer) => ({ nodeId: peer, contact: contactOf(peer) })),
      })
    })
  }
}

/** Of everybody on the memory network, who are dialled by their ids. */
export const memoryContact: Contact = { addresses: [{ kind: 'memory', text: 'memory:' }], dials: ['memory'] }

export interface Member {
  readonly name: string
  readonly node: NetworkNode
  readonly deliveries: Delivery[]
  readonly texts: () => string[]
}

/** Nodes and a tracker on a memory network under a virtual clock. */
export class Swarm {
  readonly clock = new VirtualClock()
  readonly network: MemoryNetwork
  readonly trackerIdentity = identityOf('tracker')
  readonly seed: string
  /** True in a test of faults; in any other, one of them fails it. */
  expectsFaults = false
  tracker: ScriptedTracker
  trackerTransport: Transport

  constructor(
    options: { seed?: string; latencyMs?: MemoryNetworkOptions['latencyMs']; jitterMs?: number } = {},
  ) {
    this.seed = options.seed ?? 'swarm'
    const { latencyMs = 5, jitterMs = 0 } = options
    this.network = new MemoryNetwork({ seed: this.seed, latencyMs, jitterMs }, { clock: this.clock })
    this.trackerTransport = this.wire('tracker', 'tracker')
    this.tracker = new ScriptedTracker(this.trackerTransport)
  }

  get trackerAddress(): TrackerAddress {
    return { nodeId: this.trackerIdentity.nodeId, url: 'memory://tracker' }
  }

  /** A transport of anybody, for tests that speak by hand. */
  wire(name: string, role: 'node' | 'tracker' = 'node'): Transport {
    const identity = identityOf(name)
    const random = seededRandom(`${this.seed} ${name}`)
    const capabilities = role === 'tracker' ? [{ name: countsCapability, required: false }] : []
    return this.network.transport({ role }, { clock: this.clock, random, crypto, identity, capabilities })
  }

  /** What the machine of a node tells it. */
  readonly #networkBack = new Map<string, () => void>()

  /** As if the network of a node's machine came back. */
  networkBack({ name }: Member): void {
    this.#networkBack.get(name)?.()
  }

  /** A node, not started. */
  make(
    name: string,
    options: NetworkNodeOptions = {},
    policy: PublisherPolicy = everybodyMay,
    clock: Clock = this.clock,
    others: Partial<NetworkNodeModules> = {},
  ): Member {
    const { network } = this
    const random = seededRandom(`${this.seed} ${name}`)
    const node = createNetworkNode(options, {
      identity: identityOf(name),
      crypto,
      clock,
      random,
      publisherPolicy: policy,
      trackers: oneTracker(this.trackerAddress),
      // Reaches whoever turns the clock.
      onError: (error) => {
        if (!this.expectsFaults) throw error
      },
      transports: (modules) => [network.transport({ role: 'node' }, modules)],
      onNetworkBack: (listener) => {
        this.#networkBack.set(name, listener)
        return () => this.#networkBack.delete(name)
      },
      ...others,
    })
    const deliveries: Delivery[] = []
    node.on('message', (delivery) => deliveries.push(delivery))
    const texts = (): string[] => deliveries.map(({ message }) => new TextDecoder().decode(message.content))
    return { name, node, deliveries, texts }
  }

  /** Nodes that have started and joined, and found their neighbours. */
  async grow(count: number, prefix = 'node', parts: readonly StreamPartId[] = [partId]): Promise<Member[]> {
    await this.trackerTransport.start()
    const members: Member[] = []
    for (let i = 0; i < count; i++) {
      const member = this.make(`${prefix} ${i}`)
      await member.node.start()
      for (const id of parts) member.node.join(id)
      members.push(member)
    }
    this.clock.advanceBy(5_000)
    return members
  }
}

export function neighboursOf({ node }: Member): NodeId[] {
  const part = node.metrics().streamParts.find(({ streamPartId }) => streamPartId === partId)
  return part?.neighbours.map(({ nodeId }) => nodeId) ?? []
}

/** Lets virtual time pass until a promise is settled: real things, as a stop, may take some. */
export async function turn<T>({ clock }: Swarm, promise: Promise<T>): Promise<T> {
  let settled = false
  const watched = promise.finally(() => (settled = true))
  for (let i = 0; i < 1_000 && !settled; i++) {
    clock.advanceBy(10)
    await Promise.resolve()
  }
  return watched
}
