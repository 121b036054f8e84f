import { Alarm, type Cancel, type NodeId, type StreamId } from '@runnel/protocol'
import { joinChannels, type PooledChannel } from '@runnel/transport'
import { trackerError, trackerErrors } from '../errors.ts'
import type { PacketRouter } from '../runtime/tracker-runtime.ts'
import { ClusterLinks } from './cluster-links.ts'
import type { ClusterModules, ClusterOptions } from './cluster-options.ts'
import { ClusterRecords } from './cluster-records.ts'
import type { ClusterFigures, ClusterState, ClusterView } from './cluster-view.ts'
import { ClusterCounters, type ClusterCounterName } from './core/cluster-counters.ts'
import { isolated, type FaultModules } from './core/isolated.ts'
import { PartRouter, type PartRouterModules } from './core/part-router.ts'
import type { ClusterNetworkEvents } from './libp2p/cluster-network.ts'
import { OwnTrackers } from './own-trackers.ts'
import { RegisteredTrackers } from './registered-trackers.ts'
import { SeldomLog } from './seldom-log.ts'
import { Succession } from './succession.ts'

/** How long due work waits after a fault, in milliseconds: a fault in every tick must not spin. */
const faultPauseMs = 1_000

/**
 * A tracker among the others of its network: links to all of them, replicas of overlays, circuits, and who leads what. It
 * carries out what the pure cores in `core/` decide. Read docs/decisions/010-tracker-cluster.md first.
 */
export class Cluster implements PacketRouter {
  readonly counters = new ClusterCounters()
  readonly #options: ClusterOptions
  readonly #modules: ClusterModules
  readonly #registered: RegisteredTrackers
  readonly #links: ClusterLinks
  readonly #records: ClusterRecords
  readonly #succession: Succession
  readonly #router: PartRouter
  readonly #ownTrackers: OwnTrackers
  readonly #seldom: SeldomLog
  readonly #alarm: Alarm
  /** Open circuits over this tracker. */
  #circuitsOut = 0
  #reviewAt = -Infinity
  /** After a fault, nothing is done by timer before this time. */
  #pausedUntil = -Infinity
  #unfollow: Cancel = () => {}
  #isRunning = false

  constructor(options: ClusterOptions, modules: ClusterModules) {
    const { limits } = options
    const { clock, core, crypto, identity, logger, random, registry } = modules
    const self = identity.nodeId
    const count = (name: ClusterCounterName, by?: number) => this.counters.count(name, by)
    this.#options = options
    this.#modules = modules
    this.#seldom = new SeldomLog({ clock, logger })
    this.#alarm = new Alarm({ onDue: () => this.#tick() }, { clock })
    this.#registered = new RegisteredTrackers(limits, { self, registry, logger })
    this.#links = new ClusterLinks(options, {
      ...{ self, crypto, clock, logger, count, registered: this.#registered, events: this.#events() },
      onJoined: () => this.#onJoined(),
    })
    this.#records = new ClusterRecords(limits, {
      ...{ identity, crypto, clock, random, logger, core, count, seldom: this.#seldom },
      fault: this.#fault,
      isRegistered: (id) => this.#registered.has(id),
      network: () => this.#links.network,
      url: () => modules.url(),
    })
    this.#succession = new Succession({
      ...{ self, count, fault: this.#fault, replicas: this.#records.replicas },
      order: (id) => this.#router.order(id),
      isLinked: (tracker) => this.#links.stateOf(tracker).linked,
      leads: (id) => this.#isRunning && core.streamParts.has(id),
      continue: (streamPartId, replica) => modules.runtime.handle({ type: 'replica', streamPartId, replica }),
    })
    this.#ownTrackers = new OwnTrackers(limits, {
      ...{ clock, count },
      lookUp: (streamId) => registry.ownTrackers(streamId),
      onKnown: (streamId) => this.#act(() => this.#router.streamKnown(streamId)),
    })
    this.#router = new PartRouter(limits, this.#routerModules())
  }

  /** Follows the registry, and takes part once it lists this tracker and another one. Idempotent. */
  start(): void {
    if (this.#isRunning) return
    this.#isRunning = true
    const { core, registry, runtime } = this.#modules
    this.#unfollow = registry.onChange(() => this.#act(() => this.#registryChanged()))
    core.onTouched = (id) => {
      this.#records.touched(id, this.#now())
      this.#setAlarm()
    }
    // Taken out of the registry, it has no links: those that lead would look as if they were gone.
    core.replicaOf = (id) =>
      this.#registered.others.length === 0 ? undefined : this.#succession.replicaOf(id)
    runtime.router = this
    this.#registryChanged()
  }

  /** Stops permanently. Idempotent. */
  async stop(): Promise<void> {
    this.#isRunning = false
    this.#unfollow()
    this.#alarm.set(Infinity)
    this.#records.stop()
    await this.#links.stop()
  }

  takes: PacketRouter['takes'] = (from, packet) => {
    if (this.#registered.others.length === 0) return false
    return this.#router.takes(from, packet)
  }

  gone: PacketRouter['gone'] = (nodeId) =>
    isolated({}, { fault: this.#fault }, () => this.#router.gone(nodeId))

  /** A stream may name other trackers now; any, when none is given. */
  streamsChanged(streamId: StreamId | undefined): void {
    this.#act(() => {
      this.#ownTrackers.changed(streamId)
      if (streamId === undefined) this.#router.registryChanged()
    })
  }

  /** Opens a circuit for a node, to the last tracker of `path` over those before it. Rejects with CIRCUIT_UNAVAILABLE. */
  async openCircuit(path: readonly NodeId[]): Promise<PooledChannel> {
    try {
      const { network } = this.#links
      if (network === undefined) throw trackerError('CIRCUIT_UNAVAILABLE', 'no other tracker is linked')
      const channel = await network.openCircuit(path)
      this.counters.count('circuitsOpened')
      this.#circuitsOut++
      channel.onGone = () => this.#circuitsOut--
      return channel
    } catch (error) {
      this.counters.count('circuitsFailed')
      throw error
    }
  }

  /**
   * This process stalled and disconnects all its nodes: like after a restart, it knows nothing of the other trackers
   * either.
   */
  beginAnew(): void {
    this.#records.beginAnew()
    for (const tracker of this.#links.hangUp()) this.#router.unlinked(tracker)
  }

  /** The number of other trackers that are linked, and of all that are registered. */
  get size(): { readonly linked: number; readonly registered: number } {
    return { linked: this.#links.linkedCount, registered: this.#registered.all.length }
  }

  /** As in `view`, at no cost. */
  get state(): ClusterState {
    if (!this.#registered.isListed) return 'unregistered'
    if (this.#links.network !== undefined) return 'joined'
    return this.#links.hasFailed ? 'failed' : 'alone'
  }

  /** As in `view`, at almost no cost. */
  get figures(): ClusterFigures {
    const circuits = { circuitsOut: this.#circuitsOut, circuitsIn: this.#modules.circuitsIn.size }
    return { ...this.#records.figures, ...circuits }
  }

  /** Costs time with the number of nodes and of trackers. */
  view(): ClusterView {
    const self = this.#modules.identity.nodeId
    const own = this.#records.load()
    const trackers = this.#registered.all.map(({ nodeId, url }) => {
      const load = nodeId === self ? own : this.#records.loadOf(nodeId)
      return { nodeId, url, self: nodeId === self, ...this.#links.stateOf(nodeId), load }
    })
    const { peerId = null, addresses = [] } = this.#links.network ?? {}
    const place = { nodeId: self, state: this.state, peerId, addresses }
    return { ...place, ...this.figures, trackers }
  }

  #registryChanged(): void {
    this.#registered.read()
    this.#records.purge()
    this.#links.update()
    this.#act(() => this.#router.registryChanged())
    this.#reviewSoon()
  }

  #onJoined(): void {
    for (const id of this.#modules.core.streamParts.keys()) this.#records.touched(id, this.#now())
    this.#reviewSoon()
  }

  #events(): ClusterNetworkEvents {
    return {
      onLinked: (tracker) => {
        this.#act(() => {
          this.#links.linked(tracker)
          this.#router.linked(tracker, this.#now())
          this.#records.linked()
        })
      },
      onUnlinked: (tracker) => {
        this.#act(() => {
          this.#links.unlinked(tracker)
          this.#router.unlinked(tracker)
        })
      },
      onStranger: (id) => {
        this.counters.count('strangersRefused')
        this.#seldom.warn('stranger', { id }, 'refused a peer that is not a registered tracker')
      },
      onCircuit: (channel, onward) => this.#onCircuit(channel, onward),
      onRecord: (key, value) => this.#records.offer(key, value),
    }
  }

  #onCircuit(channel: PooledChannel, onward: PooledChannel | undefined): void {
    const { maxCircuitQueueBytes: maxQueuedBytes } = this.#options.limits
    if (onward === undefined) this.#modules.circuitsIn.accept(channel)
    else joinChannels(channel, onward, { maxQueuedBytes, onClose: () => {} })
  }

  #routerModules(): PartRouterModules {
    const { core, identity, logger, runtime } = this.#modules
    const self = identity.nodeId
    const count = (name: ClusterCounterName, by?: number) => this.counters.count(name, by)
    return {
      ...{ self, count, fault: this.#fault },
      registered: () => this.#registered.ids,
      ownTrackers: (streamId) => this.#ownTrackers.of(streamId),
      leads: (id) => core.leads(id),
      ledParts: () => core.ledParts(),
      prepare: (status) => this.#succession.prepare(status),
      redirect: (nodeId, streamPartId, leaderId) =>
        runtime.send(nodeId, { type: 'redirect', streamPartId, leaderId }),
      handOver: (streamPartId, leaderId) => {
        logger.debug({ streamPartId, leaderId }, 'another tracker now leads a stream part')
        runtime.handle({ type: 'handOver', streamPartId, leaderId })
      },
      toCore: (from, packet) => runtime.handle({ type: 'packet', from, packet, isPaid: true }),
    }
  }

  /** Handles an event, and then looks at the time again. */
  #act(work: () => void): void {
    if (!this.#isRunning) return
    isolated({}, { fault: this.#fault }, () => {
      this.#modules.checkStall()
      work()
    })
    this.#setAlarm()
  }

  readonly #fault: FaultModules['fault'] = (owner, error) => {
    const { runtime } = this.#modules
    this.counters.count('faults')
    runtime.fault(error, owner)
    this.#pausedUntil = this.#now() + faultPauseMs
    const { nodeId } = owner
    if (nodeId !== undefined) runtime.disconnect(nodeId, 'TRACKER_FAULT', trackerErrors.TRACKER_FAULT.summary)
  }

  #reviewSoon(): void {
    this.#reviewAt = -Infinity
    this.#tick()
  }

  #tick(): void {
    const nowMs = this.#now()
    this.#act(() => this.#router.tick(nowMs))
    this.#act(() => this.#records.tick(nowMs))
    if (this.#reviewAt > nowMs) return
    this.#reviewAt = nowMs + this.#options.limits.reviewIntervalMs
    this.#act(() => this.#links.review())
  }

  #setAlarm(): void {
    if (!this.#isRunning) return
    const times = [this.#router.dueMs, this.#records.dueMs]
    if (this.#registered.others.length > 0) times.push(this.#reviewAt)
    this.#alarm.set(Math.max(Math.min(...times), this.#pausedUntil))
  }

  #now(): number {
    return this.#modules.clock.monotonicMs()
  }
}
