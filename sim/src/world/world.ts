import {
  createIdentity,
  loadCrypto,
  seededRandom,
  toStreamId,
  toStreamPartId,
  type Crypto,
  type Identity,
  type NodeId,
  type Random,
  type StreamPartId,
} from '@runnel/protocol'
import { createNetworkNode, type Archive, type NetworkNode, type JoinOptions } from '@runnel/network'
import {
  createIceServerSource,
  defaultTrackerLimits,
  TrackerCore,
  TrackerRuntime,
  type OverlayPolicy,
} from '@runnel/tracker'
import { MemoryNetwork, VirtualClock, type ConnectionModules } from '@runnel/transport'
import { memoiseRecovery } from './memoised-crypto.ts'

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
  /** What the tracker makes overlays of. Default random. */
  readonly overlay?: OverlayPolicy
}

/** One simulated process. */
export interface SimNode {
  readonly name: string
  readonly nodeId: NodeId
  readonly node: NetworkNode
}

/** How a process ends: its machine is gone without a word, or its system closes its sockets for it. */
export type Death = 'silent' | 'closed'

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
  readonly #core: TrackerCore
  readonly #tracker: TrackerRuntime

  private constructor(options: WorldOptions, crypto: Crypto) {
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
      },
      { clock: this.clock },
    )
    this.streamPartId = toStreamPartId(toStreamId(`${trackerIdentity.nodeId}/sim`), 0)
    const { random } = this.#modules('tracker')
    const { degree, overlay = 'random' } = options
    this.#core = new TrackerCore({ degree, limits: defaultTrackerLimits, overlay }, { random })
    this.#tracker = this.#createTracker()
  }

  /** A world with a tracker and no nodes. */
  static async create(options: WorldOptions): Promise<World> {
    const world = new World(options, memoiseRecovery(await loadCrypto()))
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

  /** The key of somebody in this world. */
  identity(name: string): Identity {
    return createIdentity(this.#random.fork(`key of ${name}`).bytes(32), this.#crypto)
  }

  /** Chance for one purpose, undisturbed by what else there is. */
  random(label: string): Random {
    return this.#random.fork(label)
  }

  /** A node that runs and has joined. */
  async addNode(name: string, archive: Archive, joining: JoinOptions = {}): Promise<SimNode> {
    const modules = this.#modules(name)
    const { nodeId, url } = { nodeId: this.#trackerIdentity.nodeId, url: 'memory://tracker' }
    const node = createNetworkNode(
      {},
      {
        ...modules,
        archive,
        publisherPolicy: { check: () => 'allowed', resolve: () => Promise.resolve() },
        trackers: { trackersFor: () => [{ nodeId, url }], onChange: () => () => {} },
        transports: (wire) => ({ websocket: this.network.transport({ role: 'node' }, wire) }),
      },
    )
    await node.start()
    node.join(this.streamPartId, joining)
    return { name, nodeId: node.nodeId, node }
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
    for (let nextMs = clock.nextAtMs; nextMs !== undefined && nextMs <= atMs; nextMs = clock.nextAtMs) {
      clock.advanceTo(nextMs)
      await null
    }
    clock.advanceTo(atMs)
  }

  #createTracker(): TrackerRuntime {
    const modules = this.#modules('tracker')
    return new TrackerRuntime({
      core: this.#core,
      transport: this.network.transport({ role: 'tracker' }, modules),
      clock: this.clock,
      ice: createIceServerSource({}),
    })
  }

  #modules(name: string): ConnectionModules {
    return {
      clock: this.clock,
      crypto: this.#crypto,
      identity: this.identity(name),
      random: this.random(`chance of ${name}`),
      onError: (error) => {
        throw error
      },
    }
  }
}
