import {
  buildBatch,
  decodePacket,
  encodePacket,
  isRunnelError,
  packetBytes,
  PacketType,
  parseStreamPartId,
  type ChainHead,
  type Instruction,
  type NodeId,
  type Packet,
  type Random,
  type StreamPartId,
} from '@runnel/protocol'
import type { Connection, Transport } from '@runnel/transport'
import type { World } from '../../world/world.ts'
import { chance, oneOf, wholeFrom } from './fuzz-plan.ts'

export interface HostileModules {
  readonly world: World
  readonly random: Random
  /** The nodes it may harass, and the nodes in whose name it may lie. */
  victims(): readonly NodeId[]
}

/** Between two misdeeds, at most. */
const maxPauseMs = 1_000
/** Packets in one flood. */
const floodPackets = 40
const contact = { addresses: [{ kind: 'memory', text: 'memory://hostile' }], dials: ['memory'] }

/** Not a node: an attacker that speaks as much of the protocol as it needs. */
export class Hostile {
  readonly nodeId: NodeId
  readonly #name: string
  readonly #modules: HostileModules
  readonly #transport: Transport
  readonly #connections = new Map<NodeId, Connection>()
  readonly #streamParts: readonly StreamPartId[]
  /** Data packets of others, to be sent again or altered. */
  readonly #heard: Uint8Array[] = []
  #counter = 0
  #requestId = 0
  #stopped = false

  constructor(options: { name: string; streamParts: readonly StreamPartId[] }, modules: HostileModules) {
    this.#name = options.name
    this.#streamParts = options.streamParts
    this.#modules = modules
    this.nodeId = modules.world.identity(options.name).nodeId
    this.#transport = modules.world.transport(options.name)
  }

  async start(): Promise<void> {
    this.#transport.onInbound = (connection) => this.#opened(connection)
    await this.#transport.start()
    this.#dial(this.#modules.world.trackerId)
    this.#next()
  }

  stop(): void {
    this.#stopped = true
    void this.#transport.stop()
  }

  #next(): void {
    const { world, random } = this.#modules
    world.clock.schedule(random.next() * maxPauseMs, () => {
      if (this.#stopped) return
      oneOf(this.#misdeeds, random)?.()
      this.#next()
    })
  }

  #dial(peerId: NodeId): void {
    if (this.#connections.has(peerId)) return
    this.#transport.dial({ peerId, onOpen: (connection) => this.#opened(connection), onFail: () => {} })
  }

  #opened(connection: Connection): void {
    const { peerId, peerRole } = connection
    this.#connections.set(peerId, connection)
    connection.events = {
      onPacket: (type, body, whole) => this.#received(peerId, type, body, whole),
      onDrain: () => {},
      onClose: () => {
        if (this.#connections.get(peerId) === connection) this.#connections.delete(peerId)
      },
    }
    if (peerRole !== 'tracker') return
    connection.send(encodePacket({ type: 'nodeInfo', contact }))
    this.#status()
  }

  #received(peerId: NodeId, type: number, body: Uint8Array, whole: Uint8Array): void {
    const { random } = this.#modules
    if (type === PacketType.data && this.#heard.length < 100) this.#heard.push(whole.slice())
    if (type !== PacketType.attach && type !== PacketType.instruction) return
    // Another of its kind may be at the other end.
    const packet = decoded(type, body)
    if (packet?.type === 'attach' && chance(0.7, random)) this.#send(peerId, attach(packet.streamPartId))
    if (packet?.type === 'instruction') this.#instructed(packet)
  }

  /** Goes where it was told: as a neighbour it can do the most. */
  #instructed({ counter, streamPartId, neighbours }: Instruction): void {
    this.#counter = counter
    for (const { nodeId } of neighbours) {
      this.#dial(nodeId)
      this.#send(nodeId, attach(streamPartId))
    }
  }

  get #misdeeds(): readonly (() => void)[] {
    const { random, world } = this.#modules
    return [
      () => this.#dial(this.#victim()),
      () => this.#dial(world.trackerId),
      () => this.#status(),
      () => this.#forge(world.clock.now() + 365 * 86_400_000, this.#victim()),
      () => this.#forge(world.clock.now() + 365 * 86_400_000, this.nodeId),
      () => this.#forge(world.clock.now(), this.#victim()),
      () => this.#sendBytes(oneOf(this.#heard, random)),
      () => this.#sendBytes(this.#altered(oneOf(this.#heard, random))),
      () => this.#sendBytes(packetBytes(wholeFrom(0, 255, random), random.bytes(wholeFrom(0, 60, random)))),
      () => this.#flood(() => attach(this.#part())),
      () => this.#flood(() => ({ type: 'detach', streamPartId: this.#part(), reason: 'not-wanted' })),
      () => this.#flood(() => this.#fetch()),
      () => this.#flood(() => ({ type: 'heads', streamPartId: this.#part(), heads: this.#heads() })),
      () => this.#flood(() => ({ type: 'fetched', requestId: this.#requestId++, complete: true })),
      () => this.#flood(() => ({ type: 'ping', token: 1 })),
      () => this.#instruct(),
      () => this.#asTracker(),
      () => oneOf(this.#connections.values(), random)?.close('BORED', 'no reason'),
    ]
  }

  #victim(): NodeId {
    const { victims, random, world } = this.#modules
    return oneOf(victims(), random) ?? world.trackerId
  }

  #part(): StreamPartId {
    const { random, world } = this.#modules
    return oneOf(this.#streamParts, random) ?? world.streamPartId
  }

  /** Lies about neighbours, round-trip times and failed nodes. */
  #status(): void {
    const { random, victims, world } = this.#modules
    const some = (): NodeId[] => victims().filter(() => chance(0.3, random))
    this.#send(world.trackerId, {
      type: 'status',
      streamPartId: this.#part(),
      counter: chance(0.8, random) ? this.#counter : wholeFrom(0, 1_000, random),
      neighbours: some()
        .slice(0, 60)
        .map((nodeId) => ({ nodeId, rttMs: random.next() * 10 })),
      failed: some()
        .slice(0, 60)
        .map((nodeId) => ({ nodeId, reason: 'lost' })),
    })
  }

  /** A message in the name of a publisher, signed by this one. */
  #forge(timestamp: number, publisherId: NodeId): void {
    const { world, random } = this.#modules
    const { streamId, partition } = parseStreamPartId(this.#part())
    const chain = { streamId, partition, publisherId, messageChainId: `sim ${wholeFrom(0, 2, random)}` }
    const message = {
      timestamp,
      sequenceNumber: wholeFrom(0, 1_000, random),
      previous: undefined,
      contentType: 0,
      encryptionType: 0,
      groupKeyId: '',
      content: random.bytes(100),
    }
    const identity = world.identity(this.#name)
    const { bytes } = buildBatch({ chain, messages: [message] }, world.crypto, identity)
    this.#sendBytes(packetBytes(PacketType.data, bytes))
  }

  #altered(packet: Uint8Array | undefined): Uint8Array | undefined {
    const { random } = this.#modules
    const copy = packet?.slice()
    if (copy !== undefined) copy[wholeFrom(6, copy.length - 1, random)] = wholeFrom(0, 255, random)
    return copy
  }

  #heads(): ChainHead[] {
    const { world, random } = this.#modules
    return Array.from({ length: 5 }, (_, i) => ({
      publisherId: this.#victim(),
      messageChainId: `sim ${i}`,
      timestamp: world.clock.now() + wholeFrom(-1_000, 1_000_000, random),
      sequenceNumber: 0,
    }))
  }

  #fetch(): Packet {
    const { streamId, partition } = parseStreamPartId(this.#part())
    const chain = { streamId, partition, publisherId: this.#victim(), messageChainId: 'sim 0' }
    const wallMs = this.#modules.world.clock.now()
    const ranges = [
      { after: { timestamp: 0, sequenceNumber: 0 }, upTo: { timestamp: wallMs, sequenceNumber: 0 } },
    ]
    const { publisherId, messageChainId } = chain
    return {
      type: 'fetch',
      requestId: this.#requestId++,
      streamPartId: this.#part(),
      publisherId,
      messageChainId,
      ranges,
    }
  }

  /** To a node, as if it were its tracker. */
  #instruct(): void {
    this.#send(this.#peer(), {
      type: 'instruction',
      streamPartId: this.#part(),
      counter: 1_000_000,
      neighbours: [{ nodeId: this.nodeId, contact }],
    })
  }

  /** Dials a node and says it is a tracker. */
  #asTracker(): void {
    const { world } = this.#modules
    const transport = world.transport(this.#name, 'tracker')
    transport.dial({
      peerId: this.#victim(),
      onOpen: (connection) => {
        const neighbours = [{ nodeId: this.nodeId, contact }]
        connection.send(
          encodePacket({ type: 'instruction', streamPartId: this.#part(), counter: 9_999, neighbours }),
        )
      },
      onFail: () => {},
    })
  }

  #peer(): NodeId {
    const { random, world } = this.#modules
    return oneOf(this.#connections.keys(), random) ?? world.trackerId
  }

  #flood(packet: () => Packet): void {
    const peer = this.#peer()
    for (let i = 0; i < floodPackets; i++) this.#send(peer, packet())
  }

  #sendBytes(packet: Uint8Array | undefined): void {
    if (packet === undefined) return
    for (const connection of this.#connections.values())
      if (connection.peerRole === 'node') connection.send(packet)
  }

  #send(peerId: NodeId, packet: Packet): void {
    this.#connections.get(peerId)?.send(encodePacket(packet))
  }
}

function decoded(type: number, body: Uint8Array): Packet | undefined {
  try {
    return decodePacket(type, body)
  } catch (error) {
    if (isRunnelError(error)) return undefined
    throw error
  }
}

function attach(streamPartId: StreamPartId): Packet {
  return { type: 'attach', streamPartId, sinceMs: 30_000, heads: [] }
}
