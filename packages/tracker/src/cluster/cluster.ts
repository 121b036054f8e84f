import {
  parseStreamPartId,
  type Cancel,
  type Clock,
  type Crypto,
  type Identity,
  type NodeId,
  type Status,
  type StreamPartId,
} from '@runnel/protocol'
import type { Replica } from '../core/replica.ts'
import type { TrackerCore } from '../core/tracker-core.ts'
import type { TrackerLogger } from '../logger.ts'
import type { PacketRouter, TrackerRuntime } from '../runtime/tracker-runtime.ts'
import type { ClusterState, ClusterView } from './cluster-view.ts'
import { ClusterCounters, type ClusterCounterName } from './core/cluster-counters.ts'
import type { ClusterRecord, ReplicatedNode } from './core/record.ts'
import { RecordTable } from './core/record-table.ts'
import type { RelayFrame } from './core/relay-frame.ts'
import { RelayRouter } from './core/relay-router.ts'
import { Replicator } from './core/replicator.ts'
import { trackerOrder } from './core/stream-order.ts'
import type { ClusterNetwork, ClusterNetworkEvents } from './libp2p/cluster-network.ts'
import type { ClusterLimits } from './limits.ts'
import { OwnTrackers } from './own-trackers.ts'
import type { RegisteredTracker, TrackerRegistryView } from './ports.ts'
import { RecordWriter } from './record-writer.ts'
import { RelayedConnection, RelayServer } from './relay-server.ts'
import { ReplicaReader } from './replica-reader.ts'
import { SeldomLog } from './seldom-log.ts'
import { TrackerPeers } from './tracker-peers.ts'

/** Where a tracker listens for other trackers. */
export interface ClusterListen {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Multiaddresses that others dial, where they are not those listened on. */
  readonly announce: readonly string[]
}

export interface ClusterOptions {
  readonly listen: ClusterListen
  /** The tracker's registered key, 32 bytes: other trackers know it by that. */
  readonly privateKey: Uint8Array
  readonly limits: ClusterLimits
  readonly maxStreamPartsPerNode: number
}

export interface ClusterModules {
  readonly identity: Identity
  readonly crypto: Crypto
  readonly clock: Clock
  readonly logger: TrackerLogger
  readonly registry: TrackerRegistryView
  readonly core: TrackerCore
  readonly runtime: TrackerRuntime
  /** What nodes dial. */
  url(): string
}

/** Trackers that are ready to lead a stream part: the one that does, and the next. */
const replicasPerStreamPart = 2
/** Trackers whose replicas of one stream part are looked for. */
const maxBelieved = 4

/** The links of a tracker that is not alone. */
interface Joined {
  readonly network: ClusterNetwork
  readonly peers: TrackerPeers
}

/**
 * A tracker among the others of its network: links to all of them, replicas of overlays, and the nodes that are relayed.
 * It carries out what the pure parts in `core/` decide. Read docs/decisions/010-tracker-cluster.md first.
 */
export class Cluster implements PacketRouter {
  readonly counters = new ClusterCounters()
  readonly #options: ClusterOptions
  readonly #modules: ClusterModules
  readonly #count = (name: ClusterCounterName, by?: number) => this.counters.count(name, by)
  readonly #seldom: SeldomLog
  readonly #table: RecordTable
  readonly #writer: RecordWriter
  readonly #replicas: ReplicaReader
  readonly #replicator: Replicator
  readonly #ownTrackers: OwnTrackers
  readonly #server: RelayServer
  readonly #router: RelayRouter
  /** Registered trackers. */
  #registered: readonly RegisteredTracker[] = []
  #registeredIds: readonly NodeId[] = []
  #joined: Joined | undefined
  #joining: Promise<void> | undefined
  #failedAt: number | undefined
  #reviewAt = -Infinity
  #aliveAt = -Infinity
  #alarm: { readonly at: number; readonly cancel: Cancel } | undefined
  #unfollow: Cancel = () => {}
  #isRunning = false

  constructor(options: ClusterOptions, modules: ClusterModules) {
    this.#options = options
    this.#modules = modules
    const { limits } = options
    const { clock, crypto, identity, logger, registry } = modules
    const count = this.#count
    this.#seldom = new SeldomLog({ clock, logger })
    this.#table = new RecordTable(limits, {
      ...{ crypto, count },
      isRegistered: (id) => this.#registeredIds.includes(id),
      onAccepted: (record) => this.#accepted(record),
    })
    this.#writer = new RecordWriter(limits, {
      ...{ identity, crypto, clock, count },
      put: (key, value, signal) => this.#joined?.network.put(key, value, signal) ?? Promise.resolve(0),
      keep: (key, value) => void this.#table.offer(key, value, clock.now()),
    })
    this.#replicas = new ReplicaReader(limits, {
      table: this.#table,
      fetch: (key, signal) => this.#joined?.network.get(key, signal) ?? Promise.resolve(undefined),
      now: () => clock.now(),
    })
    this.#replicator = new Replicator(
      limits,
      {
        ...{ crypto, count },
        snapshot: (id) => this.#snapshot(id),
        write: (body) => this.#writer.write(body),
      },
      clock.monotonicMs(),
    )
    this.#ownTrackers = new OwnTrackers(limits, {
      ...{ clock, count },
      lookUp: (streamId) => registry.ownTrackers(streamId),
      onKnown: (streamId) => this.#act(() => this.#router.streamKnown(streamId, this.#now())),
    })
    this.#server = new RelayServer(limits, {
      count,
      relay: (tracker, frame) => this.#relay(tracker, frame),
      accept: (connection) => modules.runtime.acceptRelayed(connection),
    })
    this.#router = this.#createRouter()
  }

  /** Follows the registry, and takes part as soon as it lists this tracker and another one. Idempotent. */
  start(): void {
    if (this.#isRunning) return
    this.#isRunning = true
    const { core, registry, runtime } = this.#modules
    this.#unfollow = registry.onChange(() => this.#registryChanged())
    core.onTouched = (id) => this.#touched(id)
    runtime.router = this
    this.#registryChanged()
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#isRunning = false
    this.#unfollow()
    this.#alarm?.cancel()
    this.#alarm = undefined
    this.#writer.clear()
    await this.#joining
    await this.#joined?.network.stop()
    this.#joined = undefined
  }

  takes: PacketRouter['takes'] = (from, packet) => {
    if (this.#registered.length < 2) return false
    const isTaken = this.#router.takes(from, packet, this.#now())
    this.#setAlarm()
    return isTaken
  }

  gone: PacketRouter['gone'] = (nodeId) => this.#router.gone(nodeId)

  /** Other trackers that are linked, and all that are registered. */
  get size(): { readonly linked: number; readonly registered: number } {
    return { linked: this.#joined?.peers.linkedCount ?? 0, registered: this.#registered.length }
  }

  view(): ClusterView {
    const { identity, core, clock } = this.#modules
    const self = identity.nodeId
    const trackers = this.#registered.map(({ nodeId, url }) => {
      const alive = nodeId === self ? this.#load() : this.#table.alive(nodeId, clock.now())
      const { linked = false, error = null } = this.#joined?.peers.stateOf(nodeId) ?? {}
      const load = alive && { nodes: alive.nodes, leads: alive.leads, replicas: alive.replicas }
      return { nodeId, url, self: nodeId === self, linked, error, load: load ?? null }
    })
    return {
      nodeId: self,
      state: this.#state(),
      peerId: this.#joined?.network.peerId ?? null,
      addresses: this.#joined?.network.addresses ?? [],
      leads: core.streamParts.size,
      replicas: this.#table.leadCount(self),
      relayedToOthers: this.#router.load.nodes,
      relayedFromOthers: this.#server.size,
      trackers,
    }
  }

  #state(): ClusterState {
    if (!this.#registeredIds.includes(this.#modules.identity.nodeId)) return 'unregistered'
    if (this.#joined !== undefined) return 'joined'
    return this.#failedAt === undefined ? 'alone' : 'failed'
  }

  #load() {
    const { core, identity } = this.#modules
    let nodes = 0
    for (const { connected } of core.nodes.values()) if (connected) nodes++
    return { nodes, leads: core.streamParts.size, replicas: this.#table.leadCount(identity.nodeId) }
  }

  #registryChanged(): void {
    const { identity, logger, registry, clock } = this.#modules
    const self = identity.nodeId
    const before = this.#state()
    const others = registry.trackers
      .filter(({ nodeId }) => nodeId !== self)
      .toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1))
      .slice(0, this.#options.limits.maxTrackers)
    const own = registry.trackers.filter(({ nodeId }) => nodeId === self)
    this.#registered = [...own, ...others]
    this.#registeredIds = this.#registered.map(({ nodeId }) => nodeId)
    if (registry.trackers.length === 0)
      logger.info({}, 'the registry lists no tracker; this one goes on alone')
    else if (own.length === 0 && before !== 'unregistered')
      logger.warn(
        { nodeId: self },
        'the registry does not list this tracker; other trackers do not talk to it',
      )
    this.#table.purge(clock.now())
    this.#joined?.peers.update(own.length === 0 ? [] : others)
    this.#act(() => this.#router.registryChanged(this.#now()))
    this.#reviewAt = -Infinity
    this.#tick()
  }

  /** Joins when there is somebody to join. */
  #joinIfWanted(): void {
    const { limits } = this.#options
    const isWanted =
      this.#registered.length > 1 && this.#registeredIds.includes(this.#modules.identity.nodeId)
    if (!isWanted || this.#joined !== undefined || this.#joining !== undefined) return
    if (this.#failedAt !== undefined && this.#now() - this.#failedAt < limits.maxRetryMs) return
    this.#joining = this.#join()
      .catch((error: unknown) => {
        this.#failedAt = this.#now()
        const reason = error instanceof Error ? error.message : String(error)
        this.#modules.logger.error({ reason }, 'cannot join the cluster of trackers; trying again')
      })
      .finally(() => (this.#joining = undefined))
  }

  async #join(): Promise<void> {
    const { limits, listen, privateKey } = this.#options
    const { crypto, identity, logger } = this.#modules
    // A tracker that is alone does without all of that.
    const [{ startNetwork }, { nodeIdOfPeerText }] = await Promise.all([
      import('./libp2p/start-network.ts'),
      import('./libp2p/peer-key.ts'),
    ])
    const mayJoin = (id: NodeId) => this.#isRunning && this.#registeredIds.includes(id)
    const network = await startNetwork(
      { ...listen, privateKey, limits },
      { crypto, mayJoin, count: this.#count, events: this.#events() },
    )
    if (!this.#isRunning) return network.stop()
    const nodeIdOfPeer = (peerId: string) => nodeIdOfPeerText(peerId, crypto)
    const peers = new TrackerPeers(limits, {
      ...{ self: identity.nodeId, network, logger, nodeIdOfPeer, count: this.#count },
      now: () => this.#now(),
    })
    this.#failedAt = undefined
    this.#joined = { network, peers }
    logger.info({ peerId: network.peerId, addresses: network.addresses }, 'joined the cluster of trackers')
    peers.update(this.#registered.filter(({ nodeId }) => nodeId !== identity.nodeId))
    for (const id of this.#modules.core.streamParts.keys()) this.#touched(id)
    this.#reviewAt = -Infinity
    this.#tick()
  }

  #events(): ClusterNetworkEvents {
    return {
      onLinked: (tracker) => this.#linked(tracker),
      onUnlinked: (tracker) => {
        this.#joined?.peers.unlinked(tracker)
        this.#act(() => {
          this.#server.unlinked(tracker)
          this.#router.unlinked(tracker, this.#now())
        })
      },
      onStranger: (id) => {
        this.#count('strangersRefused')
        this.#seldom.warn('stranger', { id }, 'somebody who is no registered tracker was turned away')
      },
      onFrame: (tracker, frame) => this.#act(() => this.#receive(tracker, frame)),
      onRecord: (key, value) => {
        const refusal = this.#table.offer(key, value, this.#modules.clock.now())
        if (refusal === undefined) return
        this.#seldom.warn(
          refusal,
          { record: new TextDecoder().decode(key.subarray(0, 400)) },
          'a record was refused',
        )
        throw new Error(refusal)
      },
    }
  }

  #linked(tracker: NodeId): void {
    this.#joined?.peers.linked(tracker)
    this.#act(() => this.#router.linked(tracker, this.#now()))
    // It may be new, or have forgotten everything.
    this.#replicator.writeAllAgain()
    this.#aliveAt = -Infinity
    this.#tick()
  }

  #receive(tracker: NodeId, frame: RelayFrame): void {
    if (frame.type === 'down' || frame.type === 'closed') this.#router.receive(tracker, frame, this.#now())
    else this.#server.receive(tracker, frame)
  }

  #accepted({ writer, body }: ClusterRecord): void {
    const { core, identity, logger } = this.#modules
    if (body.kind === 'lead' && writer !== identity.nodeId) {
      const { streamPartId, nodes } = body
      logger.debug({ tracker: writer, streamPartId, nodes }, 'another tracker has replicated an overlay')
    }
    if (body.kind !== 'lead' || body.chunks === 0 || writer === identity.nodeId) return
    if (!core.streamParts.has(body.streamPartId)) return
    this.counters.count('leadsDisputed')
    const details = { tracker: writer, streamPartId: body.streamPartId }
    this.#seldom.warn(`lead ${writer}`, details, 'another tracker says that it leads what this one leads')
  }

  #createRouter(): RelayRouter {
    const { core, identity, logger, runtime } = this.#modules
    return new RelayRouter(
      { ...this.#options.limits, maxStreamPartsPerNode: this.#options.maxStreamPartsPerNode },
      {
        self: identity.nodeId,
        count: this.#count,
        registered: () => this.#registeredIds,
        ownTrackers: (streamId) => this.#ownTrackers.of(streamId),
        relay: (tracker, frame) => this.#relay(tracker, frame),
        toNode: (nodeId, packet) => runtime.forward(nodeId, packet),
        toCore: (from, packet) => runtime.handle({ type: 'packet', from, packet }),
        disconnect: (nodeId, code, text) => runtime.disconnect(nodeId, code, text),
        connected: (nodeId) => this.#connected(nodeId),
        leads: (id) => core.streamParts.has(id),
        ledParts: () => core.streamParts.keys(),
        release: (id) => core.release(id, this.#now()),
        prepare: (id, status) => this.#prepare(id, status),
        moved: (streamPartId, leader) =>
          logger.debug({ streamPartId, leader }, 'another tracker leads a stream part from now on'),
        maySignal: (a, b) => core.maySignal(a, b, this.#now()),
      },
    )
  }

  #connected(nodeId: NodeId) {
    const connection = this.#modules.runtime.connectionOf(nodeId)
    if (connection === undefined) return undefined
    const contact = this.#modules.core.nodes.get(nodeId)?.contact
    const hops = connection instanceof RelayedConnection ? connection.hops : 0
    return { hops, info: contact && ({ type: 'nodeInfo', contact } as const) }
  }

  /** Continues an overlay from its replica, which is mostly here; where it is not, nodes are heard meanwhile. */
  #prepare(id: StreamPartId, status: Status | undefined): void {
    const writers = this.#believed(id)
    const found = this.#replicas.local(id, writers)
    if (found !== undefined) return this.#continue(id, found)
    if (status === undefined || status.neighbours.length === 0) return
    void this.#replicas.remote(id, writers).then((replica) => {
      if (replica === undefined) this.#count('replicasMissing')
      else if (this.#isRunning && this.#modules.core.streamParts.has(id)) this.#continue(id, replica)
    })
  }

  /**
   * Whose replica of a stream part is believed: those that should have led it before this tracker, or in its place. Who is
   * there hands over what it leads, and what it writes all the same counts for nothing.
   */
  #believed(id: StreamPartId): readonly NodeId[] {
    const self = this.#modules.identity.nodeId
    const own = this.#ownTrackers.of(parseStreamPartId(id).streamId)
    const order = trackerOrder(id, this.#registeredIds, own)
    const before = order.slice(0, Math.max(replicasPerStreamPart, order.indexOf(self) + 1))
    return before
      .slice(-maxBelieved)
      .filter((tracker) => tracker === self || !this.#joined?.peers.stateOf(tracker).linked)
  }

  #continue(streamPartId: StreamPartId, replica: Replica): void {
    this.#count('replicasFound')
    this.#modules.runtime.handle({ type: 'replica', streamPartId, replica })
  }

  #snapshot(id: StreamPartId): readonly ReplicatedNode[] | undefined {
    const part = this.#modules.core.streamParts.get(id)
    if (part === undefined || part.isAdopting) return undefined
    const nodes: ReplicatedNode[] = []
    for (const nodeId of part.members.keys()) {
      const contact = this.#modules.core.nodes.get(nodeId)?.contact
      const neighbours = [...part.topology.neighbours(nodeId)].filter((other) => nodeId < other)
      if (contact !== undefined) nodes.push({ nodeId, contact, neighbours })
    }
    return nodes
  }

  #touched(id: StreamPartId): void {
    if (this.#joined === undefined) return
    this.#replicator.touched(id, this.#now())
    this.#setAlarm()
  }

  #relay(tracker: NodeId, frame: RelayFrame): boolean {
    return this.#joined?.network.send(tracker, frame) ?? false
  }

  /** Does something in the turn of a link or a timer, and looks at the time again. */
  #act(work: () => void): void {
    if (!this.#isRunning) return
    work()
    this.#setAlarm()
  }

  #tick(): void {
    if (!this.#isRunning) return
    this.#alarm = undefined
    const now = this.#now()
    const { limits } = this.#options
    this.#router.tick(now)
    if (this.#joined !== undefined) this.#replicator.tick(now)
    if (this.#reviewAt <= now) {
      this.#reviewAt = now + limits.reviewIntervalMs
      this.#joinIfWanted()
      this.#joined?.peers.review()
    }
    if (this.#joined !== undefined && this.#aliveAt <= now) {
      this.#aliveAt = now + limits.aliveIntervalMs
      this.#table.purge(this.#modules.clock.now())
      this.#writer.write({ kind: 'alive', url: this.#modules.url(), ...this.#load() })
    }
    this.#setAlarm()
  }

  #setAlarm(): void {
    if (!this.#isRunning) return
    const times = [this.#router.wakeAt ?? Infinity]
    if (this.#registered.length > 1) times.push(this.#reviewAt)
    if (this.#joined !== undefined) times.push(this.#replicator.wakeAt ?? Infinity, this.#aliveAt)
    const at = Math.min(...times)
    if (this.#alarm !== undefined && this.#alarm.at <= at) return
    this.#alarm?.cancel()
    this.#alarm = undefined
    if (at === Infinity) return
    const delayMs = Math.max(0, Math.ceil(at - this.#now()))
    this.#alarm = { at, cancel: this.#modules.clock.schedule(delayMs, () => this.#tick()) }
  }

  #now(): number {
    return this.#modules.clock.monotonicMs()
  }
}
