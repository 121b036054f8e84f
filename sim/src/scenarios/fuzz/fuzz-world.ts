import { networkLimits } from '@runnel/network'
import {
  decodePacket,
  EncryptionType,
  limits as wireLimits,
  PacketType,
  seededRandom,
  type BuiltBatch,
  type NodeId,
  type Random,
  type StreamMessage,
  type StreamPartId,
} from '@runnel/protocol'
import { defaultTrackerLimits } from '@runnel/tracker'
import { defaultConnectionLimits } from '@runnel/transport'
import { checkBounds, type Size } from '../../measures/invariants/bounded.ts'
import { Breaches } from '../../measures/invariants/breaches.ts'
import { checkDegree } from '../../measures/invariants/degree.ts'
import { FloodingChecker } from '../../measures/invariants/flooding.ts'
import {
  checkGraph,
  componentOf,
  faultOf,
  type GraphShape,
  type Overlay,
} from '../../measures/invariants/graph.ts'
import { NoiselessChecker } from '../../measures/invariants/noiseless.ts'
import { PublishedMessages } from '../../measures/invariants/published.ts'
import { TraceHash } from '../../measures/trace-hash.ts'
import { ChainPublisher, messageNumber } from '../../world/chain-publisher.ts'
import { evenLatencies } from '../../world/latencies.ts'
import { noArchive } from '../../world/no-archive.ts'
import { tapped, type Tap } from '../../world/tapped-transport.ts'
import { World, type Death } from '../../world/world.ts'
import { FuzzNode } from './fuzz-node.ts'
import type { FuzzPlan } from './fuzz-plan.ts'
import { GuestWorld, type NewNode } from './guests/guest-world.ts'
import { Hostile } from './hostile.ts'
import { lookingUp } from './looking-up.ts'
import { SealedWorld } from './sealed-world.ts'

/** What was decided before a node left may still reach it for so long. */
const noiseGraceMs = 3_000
/** In calm a message has come to all after this. */
const floodWithinMs = 5_000
/** Every degree is right this long after the last disturbance. */
export const quietWithinMs = 60_000
/** A registry's answer, where publishers are looked up, unless the plan has another. */
const usualAnswerMs = 200

/** A world, its nodes, and the checkers that watch them. */
export class FuzzWorld {
  readonly plan: FuzzPlan
  readonly random: Random
  readonly breaches: Breaches
  readonly flooding: FloodingChecker
  readonly nodes = new Map<NodeId, FuzzNode>()
  readonly streamParts: readonly StreamPartId[]
  /** Nodes that cannot reach the other group; undefined for no partition. */
  apart: ReadonlySet<NodeId> | undefined
  lossRate: number
  /** Goes up with all that may cost a message. */
  disturbances = 0
  /** When frames were last lost or held up. */
  troubledMs = 0
  given = 0
  readonly world: World
  readonly #published = new PublishedMessages()
  readonly #noiseless: NoiselessChecker
  readonly #trace = new TraceHash()
  readonly #hostiles = new Map<NodeId, Hostile>()
  readonly #attackers = new Map<NodeId, { readonly mayPublish: boolean; readonly address?: string }>()
  /** Of honest nodes. */
  readonly #addresses = new Map<NodeId, string>()
  readonly #publishers = new Map<string, ChainPublisher>()
  /** The encrypted stream. */
  readonly sealed: SealedWorld | undefined
  /** Light clients and their hosts. */
  readonly guests: GuestWorld | undefined
  #named = 0
  #active = 0

  private constructor(plan: FuzzPlan, random: Random, world: World) {
    this.plan = plan
    this.random = random
    this.world = world
    this.lossRate = plan.lossRate
    const clear = Array.from({ length: plan.streamParts }, (_, i) => world.partition(i))
    const nowMs = (): number => world.clock.monotonicMs()
    const breaches = (this.breaches = new Breaches(nowMs))
    this.sealed =
      plan.sealed &&
      new SealedWorld(plan.sealed, {
        ...{ world, random, breaches, nodes: this.nodes },
        publish: (node, id, batch) => this.#send(node, id, batch),
        onDisturbed: () => this.disturbances++,
        onOpened: (userId, { publisherId }, content) =>
          this.#trace.add(nowMs(), userId, publisherId, messageNumber(content)),
      })
    this.streamParts = this.sealed === undefined ? clear : [...clear, this.sealed.stream.part]
    this.guests =
      plan.guests &&
      new GuestWorld(plan.guests, {
        ...{ world, breaches, nodes: this.nodes },
        troubledMs: () => this.troubledMs,
        has: (nodeId, key) => this.#has(nodeId, key),
        entered: (hostId, id, key) => this.flooding.published(key, this.#reachedFrom(hostId, id)),
        onDisturbed: () => this.disturbances++,
        addNode: (of) => this.addNode(of),
      })
    this.#noiseless = new NoiselessChecker(
      { graceMs: noiseGraceMs, troubledGraceMs: quietWithinMs },
      { breaches, nowMs, troubledMs: () => this.troubledMs },
    )
    this.flooding = new FloodingChecker(
      { withinMs: floodWithinMs },
      {
        breaches,
        nowMs,
        disturbances: () => this.disturbances,
        has: (nodeId, key) => this.#has(nodeId, key),
      },
    )
  }

  /** Stream parts that nodes join from the beginning. */
  get busyParts(): readonly StreamPartId[] {
    return this.streamParts.slice(0, this.streamParts.length - (this.plan.freshParts ?? 0))
  }

  /** Stream parts for nodes that come later. */
  get freshParts(): readonly StreamPartId[] {
    return this.streamParts.slice(this.busyParts.length)
  }

  /** All that overlays are made of. */
  get allParts(): readonly StreamPartId[] {
    return this.sealed === undefined ? this.streamParts : [...this.streamParts, this.sealed.stream.keyPart]
  }

  /** A world as its plan says; the plan and all that happens are drawn from the seed. `thinFloods`: see `WorldOptions`. */
  static async create<Plan extends FuzzPlan>(
    seed: string,
    draw: (random: Random) => Plan,
    thinFloods = true,
  ): Promise<{ readonly fuzz: FuzzWorld; readonly plan: Plan }> {
    const random = seededRandom(`fuzz ${seed}`)
    const plan = draw(random)
    // The world's questions are asked only once there is something in it.
    const made: { fuzz?: FuzzWorld } = {}
    const world = await World.create({
      seed,
      degree: plan.degree,
      overlay: plan.overlay,
      jitterMs: plan.jitterMs,
      nodeLimits: plan.limits,
      thinFloods,
      trackerLimits: plan.trackerLimits ?? {},
      addressOf: (nodeId) => made.fuzz?.addressOf(nodeId),
      latencyMs: evenLatencies(plan.latencies, random.fork('latencies')),
      settled: () => made.fuzz?.sealed?.stream.settled(),
      lossRate: (from, to) => made.fuzz?.lossBetween(from, to) ?? 0,
      publisherPolicy: () =>
        lookingUp(
          {
            answerMs: plan.looksUp ? (plan.answerMs ?? usualAnswerMs) : 0,
            isDenied: (nodeId) => made.fuzz?.isDenied(nodeId) ?? false,
          },
          world.clock,
        ),
    })
    const fuzz = (made.fuzz = new FuzzWorld(plan, random, world))
    return { fuzz, plan }
  }

  get nowMs(): number {
    return this.world.clock.monotonicMs()
  }

  get traceHash(): string {
    return this.#trace.digest()
  }

  /** All nodes that ever existed. */
  get hostiles(): number {
    return this.#hostiles.size
  }

  get hasHostiles(): boolean {
    return this.#active > 0
  }

  isHostile(nodeId: NodeId): boolean {
    return this.#hostiles.has(nodeId) || this.#attackers.has(nodeId)
  }

  /** Whether the registry says that it may not publish. */
  isDenied(nodeId: NodeId): boolean {
    return this.isHostile(nodeId) && this.#attackers.get(nodeId)?.mayPublish !== true
  }

  /** An attacker that does what its key allows. */
  addAttacker(nodeId: NodeId, of: { readonly mayPublish: boolean; readonly address?: string }): void {
    this.#attackers.set(nodeId, of)
  }

  /** Every honest node is in a network of its own. */
  addressOf(nodeId: NodeId): string | undefined {
    const { address } = this.#attackers.get(nodeId) ?? {}
    return address ?? this.#addresses.get(nodeId)
  }

  lossBetween(from: NodeId, to: NodeId): number {
    const { apart } = this
    // What a guest says of a host counts on links that lose nothing while they are open, as those of all real transports do.
    if (this.guests?.isGuest(from) === true || this.guests?.isGuest(to) === true) return 0
    return apart !== undefined && apart.has(from) !== apart.has(to) ? 1 : this.lossRate
  }

  async addNode({ name = `node ${this.#named++}`, light, tap: outer }: NewNode = {}): Promise<FuzzNode> {
    const { nodeId } = this.world.identity(name)
    const sealed = await this.sealed?.partsFor(name)
    const isHonest = (peerId: NodeId): boolean => !this.isHostile(peerId)
    this.#addresses.set(nodeId, `203.0.${this.#addresses.size % 256}.1`)
    const received = (peerId: NodeId, type: number, body: Uint8Array): void => {
      outer?.received?.(peerId, type, body)
      // A guest may want to be served where its host is not.
      if (isHonest(peerId) && this.guests?.isGuest(peerId) !== true)
        this.#noiseless.received(nodeId, peerId, type, body)
      if (peerId !== this.world.trackerId || type !== PacketType.instruction) return
      const packet = decodePacket(type, body)
      if (packet.type === 'instruction') this.nodes.get(nodeId)?.instructed(packet)
    }
    const tap: Tap = { ...outer, received }
    const sim = await this.world.startNode(name, noArchive, (transport) => tapped(transport, tap), light)
    const { plan } = this
    const node = new FuzzNode(sim, {
      sealed,
      breaches: this.breaches,
      published: this.#published,
      noiseless: this.#noiseless,
      orderLimits: plan.orderLimits,
      isHonest,
      mayPublishAnything: (publisherId) => this.#attackers.get(publisherId)?.mayPublish === true,
      onTook: (...taken) => this.guests?.took(...taken),
      onGiven: (reader, item) => {
        this.given++
        const what = item.kind === 'gap' ? 'gap' : numberOf(item.message)
        this.#trace.add(this.nowMs, reader, item.kind === 'gap' ? '' : item.message.publisherId, what)
      },
    })
    this.nodes.set(nodeId, node)
    return node
  }

  /** The process goes on to end its stream parts as it should. */
  stop(node: FuzzNode): void {
    this.nodes.delete(node.nodeId)
    this.guests?.gone(node.nodeId)
    for (const id of node.streamParts) node.leave(id)
    void node.sim.node.stop()
  }

  kill(node: FuzzNode, death: Death): void {
    this.nodes.delete(node.nodeId)
    this.guests?.gone(node.nodeId)
    node.user?.stop()
    this.world.kill(node.sim, death)
  }

  async addHostile(): Promise<void> {
    const hostile = new Hostile(
      { name: `hostile ${this.#named++}`, streamParts: this.allParts },
      {
        world: this.world,
        random: this.random.fork(`hostile ${this.#named}`),
        victims: () => [...this.nodes.keys()],
      },
    )
    this.#hostiles.set(hostile.nodeId, hostile)
    this.#active++
    await hostile.start()
  }

  stopHostiles(): void {
    for (const hostile of this.#hostiles.values()) hostile.stop()
    this.#active = 0
  }

  /** One of the chains of a node in a stream part gets longer. */
  publish(node: FuzzNode, id: StreamPartId, chain: number, messages: number): void {
    if (id === this.sealed?.stream.part) return node.user?.publish(messages)
    const name = `publisher ${node.sim.name} ${chain}`
    const key = `${name} ${id}`
    let publisher = this.#publishers.get(key)
    if (publisher === undefined) {
      const { clock, crypto } = this.world
      const options = { streamPartId: id, messageChainId: `sim ${chain}` }
      // Hosts ask a guest only for what its own user published.
      const isGuest = this.guests?.isGuest(node.nodeId) === true
      const identity = this.world.identity(isGuest ? node.sim.name : name)
      publisher = new ChainPublisher(options, { clock, crypto, identity })
      this.#publishers.set(key, publisher)
    }
    this.#send(node, id, publisher.next(messages))
  }

  #send(node: FuzzNode, id: StreamPartId, batch: BuiltBatch): void {
    const keys = this.#published.add(batch.bytes)
    // What a guest publishes floods from its hosts on.
    const reached = this.#reachedFrom(node.nodeId, id)
    for (const key of keys) this.flooding.published(key, reached)
    this.guests?.published(node.nodeId, id, batch.bytes)
    node.sim.node.publish(batch)
  }

  #reachedFrom(nodeId: NodeId, id: StreamPartId): Set<NodeId> {
    const reached = componentOf(this.#firmOverlay(id), nodeId)
    reached.delete(nodeId)
    return reached
  }

  /** Attached pairs of honest nodes; guests are in no overlay. */
  overlay(id: StreamPartId): Overlay {
    const members = [...this.nodes.values()].filter(
      (node) => node.isIn(id) && this.guests?.isGuest(node.nodeId) !== true,
    )
    return new Map(members.map((node) => [node.nodeId, node.neighbours(id)]))
  }

  /** Without peers that attached uninvited and may have to go. */
  #firmOverlay(id: StreamPartId): Overlay {
    const firm = (neighbours: ReadonlySet<NodeId>, nodeId: NodeId): Set<NodeId> =>
      new Set([...neighbours].filter((peerId) => this.nodes.get(nodeId)?.wants(id, peerId)))
    return new Map([...this.overlay(id)].map(([nodeId, neighbours]) => [nodeId, firm(neighbours, nodeId)]))
  }

  /** What must hold at any time. */
  check(): void {
    const { degree } = this.plan
    for (const node of this.nodes.values()) {
      const { nodeId, sim } = node
      const { streamParts } = sim.node.metrics()
      const wanted = streamParts.map(({ wantedNeighbours }) => ({ nodeId, neighbours: wantedNeighbours }))
      // Until a restarted tracker has taken the overlay over, a node may have temporary edges in addition.
      checkDegree(wanted, 3 * degree, this.breaches)
      checkBounds(nodeId, this.#sizesOf(node), this.breaches)
    }
    const { nodes, streamParts } = this.world.tracker
    for (const { topology } of streamParts.values()) {
      const ids = [...topology.nodes()]
      const wanted = ids.map((nodeId) => ({ nodeId, neighbours: topology.neighbours(nodeId).size }))
      checkDegree(wanted, degree, this.breaches)
    }
    const { maxNodes, maxStreamParts } = { ...defaultTrackerLimits, ...this.plan.trackerLimits }
    const sizes = [
      { name: 'nodes', size: nodes.size, limit: maxNodes },
      { name: 'stream parts', size: streamParts.size, limit: maxStreamParts },
    ]
    checkBounds('tracker', sizes, this.breaches)
    this.flooding.check()
    this.guests?.check()
  }

  *#sizesOf({ sim, held }: FuzzNode): Iterable<Size> {
    const { limits, orderLimits } = this.plan
    const { maxProvisional } = { ...networkLimits, ...limits }
    const peers = new Set<NodeId>()
    for (const { neighbours } of sim.node.metrics().streamParts) {
      // The wanted neighbours, the ones they replace, and the ones no instruction has named yet.
      yield {
        name: 'attached neighbours',
        size: neighbours.length,
        limit: wireLimits.maxNeighbours + maxProvisional,
      }
      for (const { nodeId } of neighbours) peers.add(nodeId)
    }
    const { maxQueueBytes } = defaultConnectionLimits
    for (const peerId of peers)
      yield { name: 'queued bytes', size: sim.node.queuedBytes(peerId), limit: maxQueueBytes }
    for (const size of held) yield { name: 'held messages', size, limit: orderLimits.maxHeldMessages }
  }

  /** Whether what must hold once it is quiet does so now. */
  get isWhole(): boolean {
    return this.allParts.every((id) => faultOf(this.overlay(id), this.#shape) === undefined)
  }

  get #shape(): GraphShape {
    const { degree, overlay } = this.plan
    return { degree, isRegular: overlay !== 'tree' }
  }

  /** What must hold once it is quiet. */
  checkQuiet(): void {
    for (const id of this.allParts) checkGraph(this.overlay(id), this.#shape, this.breaches)
  }

  /** Messages have their stream part's id first in their key. */
  #has(nodeId: NodeId, key: string): boolean {
    const id = key.slice(0, key.indexOf(' '))
    const node = this.nodes.get(nodeId)
    const streamPartId = this.allParts.find((part) => part === id)
    if (node === undefined || streamPartId === undefined || !node.isIn(streamPartId)) return true
    return node.has(streamPartId, key)
  }
}

/** The number in a message of a ChainPublisher, or what another says in its place. */
function numberOf({ content, timestamp, encryptionType }: StreamMessage): number {
  return content.length < 4 || encryptionType !== EncryptionType.none ? timestamp : messageNumber(content)
}
