import {
  Alarm,
  encodePacket,
  guardedClock,
  isRunnelError,
  type ActingFor,
  type Contact,
  type DirectPacket,
  type MessageChain,
  type MessageRef,
  type NodeId,
  type RunnelError,
  type Signal,
  type StreamPartId,
  type WantedNeighbour,
} from '@runnel/protocol'
import { contactOf, type Connection } from '@runnel/transport'
import type { CounterName } from '../core/counters.ts'
import type { NodeEvent } from '../core/events.ts'
import type { NodeCore } from '../core/node-core.ts'
import { keptBy, type Kept } from '../core/stream-part/kept.ts'
import type { Way } from '../core/tracker-link/way.ts'
import { networkError } from '../errors.ts'
import type { NetworkLimits } from '../limits.ts'
import type { JoinOptions, NetworkNode, NodeDelegations, NodeEvents } from '../ports.ts'
import { Tracer } from '../trace/tracer.ts'
import { ArchiveRequests } from './archive-requests.ts'
import { createCore } from './create-core.ts'
import { DirectLinks } from './direct-links.ts'
import { EffectRunner } from './effect-runner.ts'
import { failureReasonOf } from './failure-reason.ts'
import { Faults } from './faults.ts'
import { IncomingPackets } from './incoming-packets.ts'
import { Listeners } from './listeners.ts'
import { MembershipRenewal } from './membership-renewal.ts'
import { nodeMetrics } from './node-metrics.ts'
import { dataPacket } from './node-packets.ts'
import type { NodeRuntimeModules, NodeRuntimeOptions, NodeWires } from './runtime-modules.ts'
import { Sequence } from './sequence.ts'
import { StorageSearch } from './storage-search.ts'
import { TrackerConnections } from './tracker-connections.ts'
import { Waiters } from './waiters.ts'

/** Tells a node core what happens on links, tracker connections and the clock, and carries out its effects. */
export class NodeRuntime implements NetworkNode {
  readonly nodeId: NodeId
  readonly #modules: NodeRuntimeModules
  readonly #core: NodeCore
  readonly #trackers: TrackerConnections
  readonly #wires: NodeWires
  readonly #direct: DirectLinks
  readonly #storage: StorageSearch
  readonly #archive: ArchiveRequests
  readonly #tracer: Tracer | undefined
  readonly #incoming: IncomingPackets
  readonly #runner: EffectRunner
  readonly #faults: Faults
  /** Events for the core, handled one after the other: a listener may publish while a message is delivered. */
  readonly #sequence = new Sequence<NodeEvent>((event) => this.#handle(event))
  readonly #alarm: Alarm
  readonly #renewal: MembershipRenewal
  readonly #waiters = new Waiters()
  readonly #listeners: Listeners
  #state: 'new' | 'running' | 'stopping' | 'stopped' = 'new'
  #starting: Promise<void> | undefined
  #stopping: Promise<void> | undefined
  /** Called when the node stops. */
  readonly #unwatch: (() => void)[] = []

  constructor({ limits, dialTimeoutMs, tracing }: NodeRuntimeOptions, modules: NodeRuntimeModules) {
    const { identity } = modules
    const clock = guardedClock(modules.clock, (error) => this.#fault(error))
    const dispatch = (event: NodeEvent): void => this.#dispatch(event)
    const assertRunning = (): void => this.#assertRunning()
    this.nodeId = identity.nodeId
    this.#modules = modules
    this.#alarm = new Alarm({ onDue: () => this.#dispatch({ type: 'tick' }) }, { clock })
    this.#listeners = new Listeners({ onThrown: (event, error) => this.#onListenerThrew(event, error) })
    this.#wires = modules.wires({
      signalling: { send: (signal) => this.#sendSignal(signal) },
      contact: () => this.contact,
      clock,
      onError: (error) => this.#faults.ofConnection(error),
    })
    const { links, transports } = this.#wires
    const rttOf = (peerId: NodeId): number | undefined => links.peers.get(peerId)?.rttMs
    this.#core = createCore({ self: this.nodeId, limits }, modules, links.peers)
    const { counters } = this.#core
    this.#trackers = this.#createTrackerConnections(limits, dialTimeoutMs)
    const { onError } = modules
    this.#faults = new Faults(limits, {
      ...{
        clock: modules.clock,
        counters,
        listeners: this.#listeners,
        links,
        trackers: this.#trackers,
        onError,
      },
    })
    this.#renewal = new MembershipRenewal({
      clock,
      membershipToken: () => modules.membershipToken(),
      onNew: () => this.#dispatch({ type: 'tokenRenewed' }),
    })
    this.#tracer = tracing
      ? new Tracer({ clock, send: (peerId, packet) => void links.send(peerId, packet), rttOf })
      : undefined
    this.#archive = new ArchiveRequests({
      archive: modules.archive,
      give: (bytes) => this.#dispatch({ type: 'archived', ...dataPacket(bytes) }),
      ended: (gap) => this.#dispatch({ type: 'archiveEnded', gap }),
      onError: (error) => this.#faults.tellOfError(error),
    })
    this.#direct = new DirectLinks({ links, dispatch, assertRunning })
    this.#storage = new StorageSearch({ timeoutMs: dialTimeoutMs }, { clock, dispatch, assertRunning })
    this.#incoming = new IncomingPackets({
      tracer: this.#tracer,
      dispatch,
      onDirect: (peerId, packet) => this.#listeners.emit('direct', peerId, packet),
      onUnknown: (id, type) => this.#drop('packets.unknown', `type ${type} of ${id}`),
    })
    this.#runner = new EffectRunner({
      links,
      transports,
      trackers: this.#trackers,
      listeners: this.#listeners,
      waiters: this.#waiters,
      archive: this.#archive,
      storage: this.#storage,
      tracer: this.#tracer,
      faults: this.#faults,
      counters,
      publisherPolicy: modules.publisherPolicy,
      readerPolicy: modules.readerPolicy,
      contact: () => this.contact,
      dispatch,
      endOfTurn: (callback) => clock.endOfTurn(callback),
    })
  }

  get contact(): Contact {
    return contactOf(this.#wires.transports)
  }

  get streamParts(): readonly StreamPartId[] {
    return this.#core.streamParts.ids
  }

  start(): Promise<void> {
    this.#starting ??= this.#start()
    return this.#starting
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  join(streamPartId: StreamPartId, { fillGaps = true, reads = true }: JoinOptions = {}): void {
    this.#assertRunning()
    this.#dispatch({ type: 'join', streamPartId, fillGaps, reads })
  }

  leave(streamPartId: StreamPartId): void {
    this.#dispatch({ type: 'leave', streamPartId })
    this.#waiters.check()
  }

  waitForNeighbours(
    streamPartId: StreamPartId,
    options: { count?: number; signal?: AbortSignal } = {},
  ): Promise<void> {
    const count = options.count ?? 1
    return this.#waiters.wait(() => this.#joined(streamPartId).attached.length >= count, options.signal)
  }

  publish(batchBytes: Uint8Array): boolean {
    this.#assertRunning()
    const { packet, batch } = dataPacket(batchBytes)
    const { streamId, partition } = batch.chain
    if (this.#core.streamParts.ofChain(batch.chain) === undefined) {
      throw networkError('NOT_JOINED', `${streamId}#${partition}`)
    }
    this.#tracer?.published(batch, packet)
    const faults = this.#core.counters['fault.streamPart']
    const before = this.#core.streamParts.ofChain(batch.chain)
    this.#dispatch({ type: 'publish', batch, packet })
    const part = this.#core.streamParts.ofChain(batch.chain)
    if (part !== before && this.#core.counters['fault.streamPart'] > faults)
      throw networkError('STREAM_PART_FAILED', `${streamId}#${partition}`)
    return part === undefined || this.#isWritable(part.attached)
  }

  writable(streamPartId: StreamPartId, signal?: AbortSignal): Promise<void> {
    return this.#waiters.wait(() => this.#isWritable(this.#joined(streamPartId).attached), signal)
  }

  isMissing(streamPartId: StreamPartId, chain: MessageChain, place: MessageRef): boolean {
    return this.#core.isMissing(streamPartId, chain, place)
  }

  connect(
    peer: WantedNeighbour,
    options: { readonly streamPartId: StreamPartId; readonly signal?: AbortSignal },
  ): Promise<{ release(): void }> {
    this.#dispatch({ type: 'found', peerId: peer.nodeId, streamPartId: options.streamPartId })
    return this.#direct.connect(peer, options.signal)
  }

  hold(peerId: NodeId): () => void {
    return this.#direct.hold(peerId)
  }

  actingFor(peerId: NodeId): ActingFor | undefined {
    return this.#wires.links.peers.get(peerId)?.actingFor
  }

  get delegations(): NodeDelegations {
    return this.#core.delegations
  }

  sendDirect(peerId: NodeId, packet: DirectPacket): boolean {
    const ref = packet.type === 'resendData' ? packet.batch.delegationRef : undefined
    const delegation = ref && this.#core.delegations.takeFor(peerId, ref)
    if (delegation) this.#wires.links.send(peerId, encodePacket({ type: 'delegation', delegation }))
    return this.#wires.links.send(peerId, encodePacket(packet))
  }

  queuedBytes(peerId: NodeId): number {
    return this.#wires.links.peers.get(peerId)?.queuedBytes ?? 0
  }

  drained(peerId: NodeId, signal?: AbortSignal): Promise<void> {
    return this.#direct.drained(peerId, signal)
  }

  offerStorage(streamPartId: StreamPartId, storing: boolean): void {
    this.#assertRunning()
    this.#dispatch({ type: 'offerStorage', streamPartId, storing })
  }

  findStorage(streamPartId: StreamPartId, signal?: AbortSignal): Promise<readonly WantedNeighbour[]> {
    return this.#storage.find(streamPartId, signal)
  }

  on<E extends keyof NodeEvents>(event: E, listener: NodeEvents[E]): () => void {
    return this.#listeners.add(event, listener)
  }

  metrics(): ReturnType<NetworkNode['metrics']> {
    return nodeMetrics(this.#core, this.#wires.links.peers, {
      'trackers.open': this.#trackers.open,
      'trace.clocks': this.#tracer?.knownClocks ?? 0,
    })
  }

  kept(streamPartId: StreamPartId): Kept | undefined {
    const part = this.#core.streamParts.get(streamPartId)
    return part && keptBy(part)
  }

  #createTrackerConnections(limits: NetworkLimits, dialTimeoutMs: number): TrackerConnections {
    const heartbeat = {
      pingIntervalMs: limits.trackerPingIntervalMs,
      maxMissedPongs: limits.trackerMaxMissedPongs,
    }
    return new TrackerConnections(
      { dialTimeoutMs, limits: heartbeat },
      {
        transport: (url) => this.#wires.transports.find((transport) => transport.canDial(url)),
        events: {
          onOpened: (way) => this.#onTrackerOpened(way),
          onClosed: (way, wasOpen, error) => this.#onTrackerClosed(way, wasOpen, error),
          onPacket: (way, packet) => this.#dispatch({ type: 'trackerPacket', way, packet }),
          onUnknown: ({ trackerId }, type) => this.#drop('packets.unknown', `type ${type} of ${trackerId}`),
        },
      },
    )
  }

  async #start(): Promise<void> {
    if (this.#state !== 'new') throw networkError('NODE_NOT_RUNNING', 'it was stopped')
    this.#wires.links.events = {
      onOpened: (peerId, connection) => this.#try(peerId, () => this.#linkOpened(peerId, connection)),
      onClosed: (peerId) => this.#try(peerId, () => this.#linkClosed(peerId)),
      onFailed: (peerId, error) => this.#try(peerId, () => this.#linkFailed(peerId, error)),
      onPacket: (peerId, type, body, whole) => this.#incoming.take(peerId, type, body, whole),
      onCredential: (peerId) => this.#dispatch({ type: 'credentialRenewed', peerId }),
      onDrain: () => {
        this.#waiters.check()
        this.#direct.check()
      },
    }
    try {
      for (const transport of this.#wires.transports) await transport.start()
    } catch (error) {
      await this.stop()
      throw error
    }
    if (this.#state !== 'new') throw networkError('NODE_NOT_RUNNING', 'it was stopped while it started')
    this.#state = 'running'
    this.#watch()
  }

  #watch(): void {
    const { trackers, readerPolicy, onNetworkBack } = this.#modules
    const unwatch = [
      trackers.onChange(() => this.#dispatch({ type: 'directoryChanged' })),
      readerPolicy?.onChange((streamId) => this.#dispatch({ type: 'permissionsChanged', streamId })),
      onNetworkBack?.(() => this.#dispatch({ type: 'networkBack' })),
    ]
    this.#unwatch.push(...unwatch.filter((stop) => stop !== undefined))
    try {
      this.#renewal.start()
    } catch (error) {
      this.#fault(error)
    }
  }

  #linkOpened(peerId: NodeId, connection: Connection): void {
    if (connection.peerRole === 'node') {
      this.#tracer?.linkOpened(peerId)
      this.#dispatch({ type: 'linkOpened', peerId })
      this.#direct.check()
    } else this.#wires.links.disconnect(peerId, 'PROTOCOL_VIOLATION', 'a tracker is no neighbour')
  }

  #linkClosed(peerId: NodeId): void {
    this.#tracer?.linkClosed(peerId)
    this.#dispatch({ type: 'linkClosed', peerId })
    this.#direct.check()
    this.#listeners.emit('linkClosed', peerId)
  }

  #linkFailed(peerId: NodeId, error: RunnelError): void {
    this.#dispatch({ type: 'linkFailed', peerId, reason: failureReasonOf(error) })
    this.#direct.failed(peerId, error)
    this.#listeners.emit('linkFailed', peerId, error)
  }

  async #stop(): Promise<void> {
    if (this.#state === 'running') this.#state = 'stopping'
    for (const streamPartId of this.streamParts) this.#dispatch({ type: 'leave', streamPartId })
    this.#state = 'stopped'
    for (const stop of this.#unwatch) stop()
    this.#alarm.set(Infinity)
    this.#renewal.stop()
    this.#waiters.check()
    this.#archive.stop()
    this.#direct.check()
    this.#storage.check()
    this.#wires.links.stop()
    // Transports with signalling are last in the list: closing their links may go through the tracker, over one of the others.
    for (const transport of this.#wires.transports.toReversed()) await transport.stop()
  }

  #dispatch(event: NodeEvent): void {
    if (this.#state === 'running' || this.#state === 'stopping') this.#sequence.run(event)
  }

  #handle(event: NodeEvent): void {
    const { clock } = this.#modules
    // Rounded, so that ages of stream parts can be sent to peers as they are.
    const time = { nowMs: Math.floor(clock.monotonicMs()), wallMs: clock.now() }
    for (const effect of this.#core.handle(event, time)) this.#runner.run(effect)
    if (event.type !== 'data' || this.#core.dueMs < this.#alarm.dueMs) this.#setAlarm()
  }

  #setAlarm(): void {
    if (this.#state !== 'running') return
    // Rounded like the time that the core gets: otherwise it would find nothing due.
    this.#alarm.set(Math.ceil(Math.max(this.#core.dueMs, this.#faults.pausedUntilMs)))
  }

  #try(peerId: NodeId, work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#faults.report({ peerId }, error)
    }
  }

  /** A fault without an owner. */
  #fault(error: unknown): void {
    this.#faults.report({}, error)
    this.#setAlarm()
  }

  #onTrackerOpened(way: Way): void {
    this.#dispatch({ type: 'trackerOpened', way })
    this.#listeners.emit('tracker', way.trackerId, 'connected')
  }

  /** One way to a tracker closed; the tracker may be connected by another. */
  #onTrackerClosed(way: Way, wasOpen: boolean, error: RunnelError): void {
    this.#dispatch({ type: 'trackerClosed', way, wasOpen })
    if (this.#trackers.waysTo(way.trackerId).length === 0)
      this.#listeners.emit('tracker', way.trackerId, 'disconnected', error)
  }

  /** Through the tracker that instructed the edge to the peer; for an answer, through the one the offer came by. */
  #sendSignal(signal: Signal): boolean {
    const trackerId = this.#core.signalRoute(signal.peerId)
    if (trackerId !== undefined && this.#trackers.sendTo(trackerId, signal)) return true
    this.#drop('signal.refused', `${signal.kind} for ${signal.peerId}`)
    return false
  }

  #isWritable(attached: readonly NodeId[]): boolean {
    if (attached.length === 0) return true
    return attached.some((peerId) => this.#wires.links.peers.get(peerId)?.writable === true)
  }

  #joined(streamPartId: StreamPartId): { readonly attached: readonly NodeId[] } {
    this.#assertRunning()
    const part = this.#core.streamParts.get(streamPartId)
    if (part === undefined) throw networkError('NOT_JOINED', streamPartId)
    return part
  }

  #assertRunning(): void {
    if (this.#state !== 'running') throw networkError('NODE_NOT_RUNNING')
  }

  #drop(counter: CounterName, detail: string): void {
    this.#core.counters[counter]++
    this.#listeners.emit('dropped', counter, detail)
  }

  #onListenerThrew(event: keyof NodeEvents, error: unknown): void {
    this.#core.counters['listener.failed']++
    if (event === 'dropped') return
    const text = isRunnelError(error) ? error.code : error instanceof Error ? error.message : String(error)
    this.#listeners.emit('dropped', 'listener.failed', `${event}: ${text}`)
  }
}
