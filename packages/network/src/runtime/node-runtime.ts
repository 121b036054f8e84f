import {
  guardedClock,
  toHex,
  type ActingFor,
  type BuiltBatch,
  type Contact,
  type DirectPacket,
  type MessageBatch,
  type MessageChain,
  type MessageRef,
  type NodeId,
  type RunnelError,
  type Signal,
  type StreamPartId,
  type WantedNeighbour,
} from '@runnel/protocol'
import { contactOf } from '@runnel/transport'
import type { NodeEvent } from '../core/events.ts'
import type { NodeCore } from '../core/node-core.ts'
import { keptBy, type Kept } from '../core/stream-part/kept.ts'
import { networkError } from '../errors.ts'
import type {
  HostView,
  JoinOptions,
  NetworkNode,
  NodeCount,
  NodeDelegations,
  NodeEvents,
  WaitForNeighboursOptions,
} from '../ports.ts'
import { Tracer } from '../trace/tracer.ts'
import { ArchiveRequests } from './archive-requests.ts'
import { CoreDriver } from './core-driver.ts'
import { CountQuestions } from './count-questions.ts'
import { createCore } from './create-core.ts'
import { createLinkEvents } from './create-link-events.ts'
import { createTrackerConnections } from './create-tracker-connections.ts'
import { DirectLinks } from './direct-links.ts'
import { EffectRunner } from './effect-runner.ts'
import { Faults } from './faults.ts'
import { IncomingPackets } from './incoming-packets.ts'
import { LatestQuestions } from './latest-questions.ts'
import { Listeners } from './listeners.ts'
import { MembershipRenewal } from './membership-renewal.ts'
import { nodeMetrics } from './node-metrics.ts'
import { dataPacket } from './node-packets.ts'
import { PartNeighbours } from './part-neighbours.ts'
import { Publishing } from './publishing.ts'
import type { NodeRuntimeModules, NodeRuntimeOptions, NodeWires } from './runtime-modules.ts'
import { sendDirect } from './send-direct.ts'
import { StorageSearch } from './storage-search.ts'
import { OpenOffers } from './open-offers.ts'
import type { TrackerConnections } from './tracker-connections.ts'
import { VerificationQueue } from './verification-queue.ts'
import { Waiters } from './waiters.ts'
import { watchOutside } from './watch-outside.ts'

/** Tells a node core what happens on links, tracker connections and the clock, and carries out its effects. */
export class NodeRuntime implements NetworkNode {
  readonly nodeId: NodeId
  readonly #modules: NodeRuntimeModules
  readonly #core: NodeCore
  readonly #trackers: TrackerConnections
  readonly #openOffers: OpenOffers
  readonly #wires: NodeWires
  readonly #direct: DirectLinks
  readonly #storage: StorageSearch
  readonly #latest: LatestQuestions
  readonly #counts: CountQuestions
  readonly #archive: ArchiveRequests
  readonly #tracer: Tracer | undefined
  readonly #faults: Faults
  readonly #driver: CoreDriver
  readonly #renewal: MembershipRenewal
  readonly #waiters = new Waiters()
  readonly #neighbours: PartNeighbours
  readonly #publishing: Publishing
  readonly #queue: VerificationQueue
  readonly #listeners: Listeners
  #state: 'new' | 'running' | 'stopping' | 'stopped' = 'new'
  #starting: Promise<void> | undefined
  #stopping: Promise<void> | undefined
  #unwatch = (): void => {}

  constructor({ limits, dialTimeoutMs, tracing, about }: NodeRuntimeOptions, modules: NodeRuntimeModules) {
    const { identity } = modules
    const clock = guardedClock(modules.clock, (error) => this.#fault(error))
    const dispatch = (event: NodeEvent): void => this.#dispatch(event)
    const assertRunning = (): void => this.#assertRunning()
    this.nodeId = identity.nodeId
    this.#modules = modules
    this.#wires = modules.wires({
      signalling: {
        send: (signal) => this.#sendSignal(signal),
        delayMs: (peerId) => this.#signalDelayMs(peerId),
      },
      contact: () => this.contact,
      clock,
      onError: (error) => this.#faults.ofConnection(error),
    })
    const { links, transports } = this.#wires
    for (const transport of transports)
      transport.onAddresses = () => this.#dispatch({ type: 'contactChanged' })
    const waiters = this.#waiters
    this.#core = createCore({ self: this.nodeId, limits }, modules, links.peers, (batch, signerId) =>
      queue.verify(batch, signerId),
    )
    const { counters } = this.#core
    const queue = new VerificationQueue(limits, {
      ...{ clock, counters, pool: modules.verification },
      verify: (batch, signerId) => modules.verify(batch, signerId),
      signerOf: (peerId, batch) => this.#core.signerOf(peerId, batch),
      dispatch: (event) => this.#dispatch(event),
    })
    this.#queue = queue
    const dispatchInTurn = (event: NodeEvent, bytes?: number): void => queue.take(event, bytes)
    const listeners = new Listeners(counters)
    this.#listeners = listeners
    const trackers = createTrackerConnections(
      { limits, dialTimeoutMs, about, isKeyShared: modules.isKeyShared ?? true },
      {
        ...{ transports, listeners, dispatch },
        onClosed: (way) => this.#openOffers.closed(way),
        onReplaced: (error) => this.#replaced(error),
      },
    )
    this.#trackers = trackers
    this.#openOffers = new OpenOffers(limits, {
      ...{ self: this.nodeId, clock, transports, trackers },
      isLinked: (peerId) => links.peers.has(peerId),
      unexpected: (trackerId) => listeners.drop('tracker.unexpected', `an offer of none, by ${trackerId}`),
    })
    const faults = new Faults(limits, {
      ...{ clock: modules.clock, counters, links, listeners, trackers, onError: modules.onError },
    })
    this.#faults = faults
    this.#renewal = new MembershipRenewal({
      clock,
      membershipToken: () => modules.membershipToken(),
      onNew: () => this.#dispatch({ type: 'tokenRenewed' }),
    })
    const rttOf = (peerId: NodeId): number | undefined => links.peers.get(peerId)?.rttMs
    const tracer = tracing
      ? new Tracer({ clock, send: (peerId, packet) => void links.send(peerId, packet), rttOf })
      : undefined
    this.#tracer = tracer
    this.#archive = new ArchiveRequests({
      archive: modules.archive,
      give: (bytes) => this.#dispatch({ type: 'archived', ...dataPacket(bytes) }),
      ended: (gap) => this.#dispatch({ type: 'archiveEnded', gap }),
      onError: (error) => faults.tellOfError(error),
    })
    this.#neighbours = new PartNeighbours({ core: this.#core, peers: links.peers, waiters, assertRunning })
    this.#publishing = new Publishing({
      ...{ core: this.#core, listeners, neighbours: this.#neighbours, tracer, dispatch, assertRunning },
    })
    this.#direct = new DirectLinks({ self: this.nodeId, links, dispatch, assertRunning })
    this.#storage = new StorageSearch({ timeoutMs: dialTimeoutMs }, { clock, dispatch, assertRunning })
    this.#latest = new LatestQuestions(limits, {
      links,
      clock,
      unexpected: (peerId) => listeners.drop('latest.unexpected', peerId),
    })
    this.#counts = new CountQuestions(
      { countRetryMs: limits.countRetryMs, timeoutMs: dialTimeoutMs },
      {
        ...{ clock, waiters, trackers },
        wayTo: (streamPartId) => this.#core.memberWay(streamPartId),
        assertJoined: (streamPartId) => this.#assertJoined(streamPartId),
        unexpected: (trackerId) => listeners.drop('tracker.unexpected', `a count of ${trackerId}`),
      },
    )
    const incoming = new IncomingPackets({
      tracer,
      dispatch: dispatchInTurn,
      isWaiting: () => queue.isWaiting,
      headerOf: (peerId, alias) => this.#core.headerOf(peerId, alias),
      onDirect: (peerId, packet) => listeners.emit('direct', peerId, packet),
      onUnknown: (id, type) => listeners.drop('packets.unknown', `type ${type} of ${id}`),
    })
    links.events = createLinkEvents({
      ...{
        links,
        incoming,
        direct: this.#direct,
        latest: this.#latest,
        waiters,
        listeners,
        counters,
        tracer,
        faults,
      },
      dispatch: dispatchInTurn,
    })
    const runner = new EffectRunner({
      ...{
        links,
        transports,
        trackers,
        openOffers: this.#openOffers,
        listeners,
        waiters,
        tracer,
        faults,
        counters,
        dispatch,
        dialTimeoutMs,
        direct: this.#direct,
      },
      ...{ archive: this.#archive, storage: this.#storage, latest: this.#latest, counts: this.#counts },
      publisherPolicy: modules.publisherPolicy,
      readerPolicy: modules.readerPolicy,
      contact: () => this.contact,
      firstAttach: (peerId) => this.#core.firstAttach(peerId, Math.floor(clock.monotonicMs())),
      endOfTurn: (callback) => clock.endOfTurn(callback),
    })
    this.#driver = new CoreDriver({
      ...{ core: this.#core, clock },
      run: (effect) => runner.run(effect),
      onHandled: ({ type }) => type === 'trackerPacket' && this.#counts.look(),
      tick: () => this.#dispatch({ type: 'tick' }),
      pausedUntilMs: () => faults.pausedUntilMs,
      isRunning: () => this.#state === 'running',
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

  get hosts(): readonly HostView[] {
    return this.#core.hosts
  }

  join(
    streamPartId: StreamPartId,
    { fillGaps = true, reads = true, keepsLatest = false, lookBackMs = 0 }: JoinOptions = {},
  ): void {
    this.#assertRunning()
    this.#dispatch({ type: 'join', streamPartId, fillGaps, reads, keepsLatest, lookBackMs })
  }

  leave(streamPartId: StreamPartId): void {
    this.#dispatch({ type: 'leave', streamPartId })
    this.#waiters.check()
  }

  waitForNeighbours(streamPartId: StreamPartId, options: WaitForNeighboursOptions = {}): Promise<void> {
    return this.#neighbours.wait(streamPartId, options)
  }

  publish(batch: BuiltBatch): boolean {
    return this.#publishing.publish(batch)
  }

  relay(batchBytes: Uint8Array): void {
    this.#publishing.relay(batchBytes)
  }

  urgentKbitPerS(streamPartId: StreamPartId, publisherId: NodeId): number | undefined {
    return this.#neighbours.urgentKbitPerS(streamPartId, publisherId)
  }

  writable(streamPartId: StreamPartId, signal?: AbortSignal): Promise<void> {
    return this.#neighbours.writable(streamPartId, signal)
  }

  isMissing(streamPartId: StreamPartId, chain: MessageChain, place: MessageRef): boolean {
    const isMissing = this.#core.isMissing(streamPartId, chain, place)
    return isMissing || this.#driver.isOnItsWay(streamPartId, chain, place)
  }

  connect(
    peer: WantedNeighbour,
    {
      streamPartId,
      signal,
    }: { readonly streamPartId?: StreamPartId | undefined; readonly signal?: AbortSignal },
  ): Promise<{ release(): void }> {
    if (streamPartId !== undefined) this.#dispatch({ type: 'found', peerId: peer.nodeId, streamPartId })
    return this.#direct.connect(peer, signal)
  }

  hasCapability(peerId: NodeId, name: string): boolean {
    return this.#wires.links.peers.get(peerId)?.capabilities.has(name) === true
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
    return sendDirect({ core: this.#core, links: this.#wires.links }, peerId, packet)
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

  countNodes(streamPartId: StreamPartId, signal?: AbortSignal): Promise<NodeCount> {
    if (this.#modules.light?.hosts === undefined) return this.#counts.ask(streamPartId, signal)
    return Promise.reject(networkError('COUNT_UNAVAILABLE', 'this node is a light one'))
  }

  neighboursOf(streamPartId: StreamPartId): readonly NodeId[] {
    return this.#core.streamParts.get(streamPartId)?.attached ?? []
  }

  latest(streamPartId: StreamPartId, tag: Uint8Array | undefined): MessageBatch | undefined {
    const part = this.#core.streamParts.get(streamPartId)
    const nowMs = Math.floor(this.#modules.clock.monotonicMs())
    return part?.reads ? part.latest.find(tag && toHex(tag), nowMs) : undefined
  }

  askLatest(
    peerId: NodeId,
    streamPartId: StreamPartId,
    { tag, signal }: { readonly tag: Uint8Array | undefined; readonly signal: AbortSignal },
  ): Promise<MessageBatch | undefined> {
    return this.#latest.ask(peerId, streamPartId, tag, signal)
  }

  on<E extends keyof NodeEvents>(event: E, listener: NodeEvents[E]): () => void {
    return this.#listeners.add(event, listener)
  }

  metrics(): ReturnType<NetworkNode['metrics']> {
    return nodeMetrics({ core: this.#core, nowMs: this.#modules.clock.monotonicMs() }, this.#wires, {
      'guests.open': this.#core.guests,
      'trackers.open': this.#trackers.open,
      'trace.clocks': this.#tracer?.knownClocks ?? 0,
      'data.verifiersLost': this.#queue.workersLost,
    })
  }

  kept(streamPartId: StreamPartId): Kept | undefined {
    const part = this.#core.streamParts.get(streamPartId)
    return part && keptBy(part)
  }

  async #start(): Promise<void> {
    if (this.#state !== 'new') throw networkError('NODE_NOT_RUNNING', 'it was stopped')
    try {
      for (const transport of this.#wires.transports) {
        await transport.start()
        // Stopped meanwhile, before there was anything to stop.
        if (this.#state !== 'new') {
          await this.#stopTransports()
          break
        }
      }
    } catch (error) {
      await this.stop().catch((thrown: unknown) => this.#faults.tellOfError(thrown))
      throw error
    }
    if (this.#state !== 'new') throw networkError('NODE_NOT_RUNNING', 'it was stopped while it started')
    this.#state = 'running'
    this.#unwatch = watchOutside(this.#modules, (event) => this.#dispatch(event))
    this.#dispatch({ type: 'started' })
    try {
      this.#renewal.start()
    } catch (error) {
      this.#fault(error)
    }
  }

  async #stop(): Promise<void> {
    if (this.#state === 'running') this.#state = 'stopping'
    for (const streamPartId of this.streamParts) this.#dispatch({ type: 'leave', streamPartId })
    this.#state = 'stopped'
    this.#unwatch()
    this.#queue.clear()
    this.#driver.stop()
    this.#renewal.stop()
    this.#waiters.check()
    this.#archive.stop()
    this.#direct.check()
    this.#storage.check()
    this.#openOffers.stop()
    this.#wires.links.stop()
    await this.#stopTransports()
  }

  /**
   * Those with signalling are last in the list: closing their links may go through the tracker, over one of the others. One that fails to stop keeps
   * none of the others from it; its error is thrown in the end.
   */
  async #stopTransports(): Promise<void> {
    const errors: unknown[] = []
    for (const transport of this.#wires.transports.toReversed()) {
      try {
        await transport.stop()
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors[0]
  }

  #dispatch(event: NodeEvent): void {
    if (this.#state === 'running' || this.#state === 'stopping') this.#driver.dispatch(event)
  }

  /** Of nobody in particular. */
  #fault(error: unknown): void {
    this.#faults.report({}, error)
    this.#driver.setAlarm()
  }

  /** Two processes that take the place from each other again and again are both of no use: the older one gives in. */
  #replaced(error: RunnelError): void {
    if (this.#state !== 'running') return
    this.#listeners.emit('replaced', error)
    this.stop().catch((thrown: unknown) => this.#fault(thrown))
  }

  /** Through the tracker that ordered the edge to the peer; for an answer, through the one the offer came by. */
  #sendSignal(signal: Signal): boolean {
    const trackerId = this.#core.signalRoute(signal.peerId)
    if (trackerId !== undefined && this.#trackers.sendTo(trackerId, signal)) return true
    this.#listeners.drop('signal.refused', `${signal.kind} for ${signal.peerId}`)
    return false
  }

  /** To the tracker. */
  #signalDelayMs(peerId: NodeId): number | undefined {
    const trackerId = this.#core.signalRoute(peerId)
    const rttMs = trackerId === undefined ? undefined : this.#trackers.rttMs(trackerId)
    return rttMs === undefined ? undefined : rttMs / 2
  }

  #assertJoined(streamPartId: StreamPartId): void {
    this.#assertRunning()
    if (this.#core.streamParts.get(streamPartId) === undefined) throw networkError('NOT_JOINED', streamPartId)
  }

  #assertRunning(): void {
    if (this.#state !== 'running') throw networkError('NODE_NOT_RUNNING')
  }
}
