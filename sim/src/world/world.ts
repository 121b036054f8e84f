import {
  createIdentity,
  loadCrypto,
  memoisedRecovery,
  seededRandom,
  toStreamId,
  toStreamPartId,
  type Capability,
  type Crypto,
  type Identity,
  type LinkRole,
  type NodeAdmission,
  type NodeId,
  type Random,
  type StreamPartId,
  type OverlayStrategyName,
} from '@runnel/protocol'
import {
  createNetworkNode,
  type Archive,
  type JoinOptions,
  type NetworkLimits,
  type LightOptions,
  type NetworkNode,
  type PublisherPolicy,
} from '@runnel/network'
import {
  createIceServerSource,
  defaultTrackerLimits,
  TrackerCore,
  TrackerRuntime,
  type TrackerLimits,
} from '@runnel/tracker'
import {
  MemoryNetwork,
  VirtualClock,
  type Acting,
  type ConnectionModules,
  type Transport,
} from '@runnel/transport'
import { processClock } from './process-clock.ts'

export interface WorldOptions {
  /** Same seed, same run. */
  readonly seed: string
  /** Neighbours per node. */
  readonly degree: number
  /** One way, of each link. */
  latencyMs(from: NodeId, to: NodeId): number
  /** Added to a frame's latency, evenly drawn, up to this. */
  readonly jitterMs: number
  /** The part of frames lost between two nodes, asked for each frame. Connections to the tracker are TCP and lose none. */
  lossRate(from: NodeId, to: NodeId): number
  /** What a line between two nodes carries, and how much it holds of what waits or is under way. Default: anything. */
  readonly line?: {
    bytesPerMs(from: NodeId, to: NodeId): number
    readonly windowBytes: number
  }
  /** What the tracker makes overlays of. Default random. */
  readonly overlay?: OverlayStrategyName
  /** Who may publish, as each node finds out for itself. Default everybody. */
  readonly publisherPolicy?: () => PublisherPolicy
  /** False: nodes send every neighbour a copy of everything. Default true. */
  readonly thinFloods?: boolean
  /** Limits of nodes other than their defaults. */
  readonly nodeLimits?: Partial<NetworkLimits>
  /** Limits of the tracker other than its defaults. */
  readonly trackerLimits?: Partial<TrackerLimits>
  /** The address that an identity's bytes come from. Default none, as for a process on the same machine. */
  addressOf?(nodeId: NodeId): string | undefined
  /** For whom a node acts. Default: for itself. */
  actingOf?(nodeId: NodeId): Acting | undefined
  /** Of a private network: whose nodes the tracker and nodes let in. */
  readonly admission?: NodeAdmission
  /** Resolves when what an instant began waits for time to pass; undefined where nothing takes more than a turn. */
  settled?(): Promise<void> | undefined
  /** Called now and then while time passes, with the second. What it throws ends the run; no timer could, as events follow each other without a pause. */
  onPassing?(second: number): void
  /** What a node's cryptography goes through: to count what it does. */
  tappedCrypto?(nodeId: NodeId, crypto: Crypto): Crypto
}

/** What may stand between a node and the network: to watch what it receives, or to change what it sends. */
export type WrapTransport = (transport: Transport) => Transport

/** One simulated process. */
export interface SimNode {
  readonly name: string
  readonly nodeId: NodeId
  readonly node: NetworkNode
}

/** How a process ends: its machine is lost silently, or the operating system closes its sockets. */
export type Death = 'silent' | 'closed'

const allowEverybody = (): PublisherPolicy => ({ check: () => 'allowed', resolve: () => Promise.resolve() })

/** Instants of virtual time from one call of `onPassing` to the next: each takes a few milliseconds at most. */
const instantsAtOnce = 250

/** Signatures whose signers are remembered: in one process every node would recover the same ones again. */
const maxRecoveries = 50_000

/** What the other ends of a dead process's sockets are told takes no longer than this to leave. */
const closingMs = 1_000

/**
 * A network in this process: production nodes and a production tracker on a memory network in virtual time. The memory
 * transport stands in the place of WebSockets, so every node can dial every other.
 */
export class World {
  readonly clock = new VirtualClock()
  readonly network: MemoryNetwork
  readonly streamPartId: StreamPartId
  readonly #crypto: Crypto
  readonly #random: Random
  readonly #trackerIdentity: Identity
  readonly #options: WorldOptions
  #core: TrackerCore
  #tracker: TrackerRuntime
  #trackerRuns = true
  /** Trackers started so far: each draws other chances. */
  #trackers = 0
  #instants = 0

  private constructor(options: WorldOptions, crypto: Crypto) {
    this.#options = options
    this.#crypto = crypto
    this.#random = seededRandom(options.seed)
    const trackerIdentity = this.identity('tracker')
    this.#trackerIdentity = trackerIdentity
    const isTracker = (nodeId: NodeId): boolean => nodeId === trackerIdentity.nodeId
    this.network = new MemoryNetwork(
      {
        seed: options.seed,
        latencyMs: (from, to) => options.latencyMs(from, to),
        jitterMs: options.jitterMs,
        lossRate: (from, to) => (isTracker(from) || isTracker(to) ? 0 : options.lossRate(from, to)),
        addressOf: (nodeId) => options.addressOf?.(nodeId),
        ...(options.line === undefined ? {} : { windowBytes: options.line.windowBytes }),
        bytesPerMs: (from, to) =>
          isTracker(from) || isTracker(to) ? Infinity : (options.line?.bytesPerMs(from, to) ?? Infinity),
      },
      { clock: this.clock },
    )
    this.streamPartId = toStreamPartId(toStreamId(`${trackerIdentity.nodeId}/sim`), 0)
    this.#core = this.#createCore()
    this.#tracker = this.#createTracker()
  }

  /** A world with a tracker and no nodes. */
  static async create(options: WorldOptions): Promise<World> {
    const world = new World(options, memoisedRecovery(await loadCrypto(), maxRecoveries))
    await world.#tracker.start()
    return world
  }

  get crypto(): Crypto {
    return this.#crypto
  }

  /** What the tracker knows of the stream part; undefined before the first node came. */
  get tracked(): ReturnType<TrackerCore['streamParts']['get']> {
    return this.#core.streamParts.get(this.streamPartId)
  }

  get tracker(): Pick<TrackerCore, 'nodes' | 'streamParts' | 'counters'> {
    return this.#core
  }

  get trackerId(): NodeId {
    return this.#trackerIdentity.nodeId
  }

  get trackerRuns(): boolean {
    return this.#trackerRuns
  }

  /** A stream part of the same stream; 0 is `streamPartId`. */
  partition(number: number): StreamPartId {
    return toStreamPartId(toStreamId(`${this.trackerId}/sim`), number)
  }

  /** The key of an identity in this world. */
  identity(name: string): Identity {
    return createIdentity(this.#random.fork(`key of ${name}`).bytes(32), this.#crypto)
  }

  /** Chance for one purpose, undisturbed by what else there is. */
  random(label: string): Random {
    return this.#random.fork(label)
  }

  /** A node that runs and has joined. */
  async addNode(
    name: string,
    archive: Archive,
    joining: JoinOptions = {},
    wrap?: WrapTransport,
  ): Promise<SimNode> {
    const simNode = await this.startNode(name, archive, wrap)
    simNode.node.join(this.streamPartId, joining)
    return simNode
  }

  /** A node that runs and has joined nothing; perhaps a light one, or one that serves such nodes. */
  async startNode(
    name: string,
    archive: Archive,
    wrap: WrapTransport = (transport) => transport,
    light?: LightOptions,
  ): Promise<SimNode> {
    const modules = this.#modules(name)
    const { nodeId, url } = { nodeId: this.#trackerIdentity.nodeId, url: 'memory://tracker' }
    const { nodeLimits: limits, admission, thinFloods = true } = this.#options
    const self = modules.identity.nodeId
    const node = createNetworkNode(
      { ...(limits !== undefined && { limits }), light, thinFloods },
      {
        ...modules,
        crypto: this.#options.tappedCrypto?.(self, this.#crypto) ?? this.#crypto,
        acting: this.#options.actingOf?.(self),
        admission,
        archive,
        publisherPolicy: (this.#options.publisherPolicy ?? allowEverybody)(),
        trackers: { trackersFor: () => [{ nodeId, url }], onChange: () => () => {} },
        transports: (wire) => [wrap(this.network.transport({ role: 'node' }, wire))],
      },
    )
    await node.start()
    return { name, nodeId: node.nodeId, node }
  }

  /** A way into the network without a node: for those who do not behave as one. */
  transport(name: string, role: LinkRole = 'node', capabilities: readonly Capability[] = []): Transport {
    return this.network.transport({ role }, { ...this.#modules(name), capabilities })
  }

  /** The tracker's process ends; its system closes its sockets. */
  stopTracker(): void {
    if (!this.#trackerRuns) return
    this.#trackerRuns = false
    this.network.breakLinks(this.trackerId)
    void this.#tracker.stop()
  }

  /** A tracker with the same key, that remembers nothing. */
  async startTracker(): Promise<void> {
    if (this.#trackerRuns) return
    this.#trackerRuns = true
    this.#trackers++
    this.#core = this.#createCore()
    this.#tracker = this.#createTracker()
    await this.#tracker.start()
  }

  /** Ends a process as SIGKILL or a power cut would: nothing is said by the node itself. */
  kill({ node, nodeId }: SimNode, death: Death): void {
    const end = (): void => {
      this.network.setOnline(nodeId, false)
      // Nobody hears what it says while it stops: this only ends its timers.
      void node.stop()
    }
    if (death === 'silent') return end()
    this.network.breakLinks(nodeId)
    this.clock.schedule(closingMs, end)
  }

  /** Lets virtual time pass. Promises are settled between any two instants, as they would be in real time. */
  async advanceTo(atMs: number): Promise<void> {
    const { clock } = this
    // Work may have been begun between two calls.
    const before = this.#options.settled?.()
    if (before !== undefined) await before
    for (let nextMs = clock.nextAtMs; nextMs !== undefined && nextMs <= atMs; nextMs = clock.nextAtMs) {
      clock.advanceTo(nextMs)
      await (this.#options.settled?.() ?? Promise.resolve())
      if (++this.#instants % instantsAtOnce === 0) this.#options.onPassing?.(Math.floor(nextMs / 1000))
    }
    clock.advanceTo(atMs)
  }

  #createCore(): TrackerCore {
    const { degree, overlay = 'random', trackerLimits } = this.#options
    const { random } = this.#modules(this.#trackerName)
    return new TrackerCore(
      { degree, limits: { ...defaultTrackerLimits, ...trackerLimits }, overlay },
      { random },
    )
  }

  /** As what the tracker that runs draws its chances. */
  get #trackerName(): string {
    return this.#trackers === 0 ? 'tracker' : `tracker ${this.#trackers}`
  }

  #createTracker(): TrackerRuntime {
    const random = this.random(`chance of ${this.#trackerName}`)
    const modules = { ...this.#modules('tracker'), random }
    return new TrackerRuntime({
      core: this.#core,
      admission: this.#options.admission,
      transport: this.network.transport({ role: 'tracker' }, modules),
      clock: this.clock,
      crypto: this.#crypto,
      onError: modules.onError,
      ice: createIceServerSource({}),
    })
  }

  #modules(name: string): ConnectionModules {
    return {
      clock: processClock(this.clock),
      crypto: this.#crypto,
      identity: this.identity(name),
      random: this.random(`chance of ${name}`),
      onError: (error) => {
        throw error
      },
    }
  }
}
