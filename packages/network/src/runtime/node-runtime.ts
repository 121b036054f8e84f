import {
  Alarm,
  decodePacket,
  encodePacket,
  guardedClock,
  isRunnelError,
  packetKind,
  type AccessToken,
  type Clock,
  type Contact,
  type Crypto,
  type DirectPacket,
  type Identity,
  type Instruction,
  type MessageBatch,
  type MessageChain,
  type MessageRef,
  type NodeId,
  type TrackerToNode,
  type Random,
  type ReaderPolicy,
  type Redirect,
  type RunnelError,
  type Signal,
  type StreamPartId,
  type Time,
  type WantedNeighbour,
} from '@runnel/protocol'
import type { Connection, LinksOwner, Signalling } from '@runnel/transport'
import type { CounterName, GaugeName } from '../core/counters.ts'
import type { NodeEvent } from '../core/events.ts'
import { NodeCore } from '../core/node-core.ts'
import { keptBy, type Kept } from '../core/stream-part/kept.ts'
import { TrackerLinks } from '../core/tracker-link/tracker-links.ts'
import type { Way } from '../core/tracker-link/way.ts'
import { networkError } from '../errors.ts'
import type { NetworkLimits } from '../limits.ts'
import type {
  Archive,
  JoinOptions,
  NetworkNode,
  NodeEvents,
  NodeFault,
  NodeTransports,
  OnNetworkBack,
  PublisherPolicy,
  StreamPartMetrics,
  TrackerDirectory,
} from '../ports.ts'
import { Tracer } from '../trace/tracer.ts'
import { SignalRoutes } from '../signalling/signal-routes.ts'
import { ArchiveRequests } from './archive-requests.ts'
import { DirectLinks } from './direct-links.ts'
import { failureReasonOf } from './failure-reason.ts'
import { Listeners } from './listeners.ts'
import { dataPacket, eventOfPacket, type OnTraced } from './node-packets.ts'
import { resolveUser } from './resolve-user.ts'
import { Sequence } from './sequence.ts'
import { StorageSearch } from './storage-search.ts'
import { TrackerConnections } from './tracker-connections.ts'
import { Waiters } from './waiters.ts'

/** A membership token is looked at no sooner than after this, however little is left of it. */
const minRenewalMs = 1_000

/** Whose work it is: so far a fault in it reaches. */
interface Owner {
  readonly streamPartId?: StreamPartId
  readonly peerId?: NodeId
  readonly way?: Way
}

interface TrackerTask {
  readonly type: 'trackers'
  readonly owner: Owner
  run(time: Time): void
}

export interface NodeRuntimeOptions {
  readonly limits: NetworkLimits
  readonly dialTimeoutMs: number
  /** Whether it measures how long messages take. */
  readonly tracing: boolean
}

export interface NodeRuntimeModules {
  readonly identity: Identity
  readonly crypto: Crypto
  readonly clock: Clock
  readonly random: Random
  /** True when the publisher that a batch names signed it. */
  readonly verify: (batch: MessageBatch) => boolean
  /** True when the user that a token names lets the node act in its name. */
  readonly verifyMembership: (token: AccessToken, nodeId: NodeId, wallMs: number) => boolean
  readonly publisherPolicy: PublisherPolicy
  readonly readerPolicy?: ReaderPolicy | undefined
  /** Proof that the node acts for a user; undefined when it is the user. */
  readonly membershipToken: () => AccessToken | undefined
  readonly trackers: TrackerDirectory
  readonly archive?: Archive | undefined
  readonly onNetworkBack?: OnNetworkBack | undefined
  readonly onError?: ((error: unknown) => void) | undefined
  /** Built by whoever builds the runtime, as they need each other: signalling goes through the runtime. */
  readonly wires: (runtime: RuntimeOfWires) => NodeWires
}

/** What transports and links need of the runtime. */
interface RuntimeOfWires {
  readonly signalling: Signalling
  /** What is thrown in a call that it scheduled is a fault, and goes no further. */
  readonly clock: Clock
  contact(): Contact
  /** Told what a callback of a connection threw, which was closed. */
  onError(error: unknown): void
}

/** The transports, and the links that are made of them. */
export interface NodeWires {
  readonly transports: NodeTransports
  readonly links: LinksOwner
}

/** Carries out what the cores want on links, tracker connections and the clock, and tells them what happens there. */
export class NodeRuntime implements NetworkNode {
  readonly nodeId: NodeId
  readonly #modules: NodeRuntimeModules
  /** What is thrown in a call that it scheduled is a fault, and goes no further. */
  readonly #clock: Clock
  readonly #limits: NetworkLimits
  readonly #core: NodeCore
  readonly #trackerLinks: TrackerLinks
  readonly #trackerConnections: TrackerConnections
  readonly #wires: NodeWires
  readonly #routes: SignalRoutes
  readonly #direct: DirectLinks
  readonly #storage: StorageSearch
  readonly #archive: ArchiveRequests
  readonly #tracer: Tracer | undefined
  /** What happens to the cores, one thing after the other: a listener may publish while a message is delivered. */
  readonly #sequence = new Sequence<NodeEvent | TrackerTask>((item) => this.#handle(item))
  readonly #alarm: Alarm
  /** When the membership token is looked at. */
  readonly #renewal: Alarm
  /** As the trackers were told last, or are being told. */
  #token: AccessToken | undefined
  readonly #waiters = new Waiters()
  readonly #listeners: Listeners
  readonly #onTraced: OnTraced = (trace, { peerId, batch, packet }) =>
    this.#tracer?.received(peerId, trace, batch, packet)
  #state: 'new' | 'running' | 'stopped' = 'new'
  #starting: Promise<void> | undefined
  #stopping: Promise<void> | undefined
  #flushPlanned = false
  /** After a fault that nobody is known to be the cause of, nothing is done in time before. */
  #pausedUntilMs = -Infinity
  #unwatchDirectory = (): void => undefined
  #unwatchNetwork = (): void => undefined
  #unwatchReaders = (): void => undefined

  constructor(options: NodeRuntimeOptions, modules: NodeRuntimeModules) {
    const { identity, random, publisherPolicy, trackers } = modules
    const clock = guardedClock(modules.clock, (error) => this.#fault({}, error))
    this.#clock = clock
    const { limits, dialTimeoutMs, tracing } = options
    this.nodeId = identity.nodeId
    this.#modules = modules
    this.#limits = limits
    this.#alarm = new Alarm({ onDue: () => this.#tick() }, { clock })
    this.#renewal = new Alarm({ onDue: () => this.#renewMembership() }, { clock })
    this.#listeners = new Listeners({ onThrown: (event, error) => this.#onListenerThrew(event, error) })
    this.#wires = modules.wires({
      signalling: { send: (signal) => this.#sendSignal(signal) },
      contact: () => this.contact,
      clock,
      onError: (error) => this.#connectionFault(error),
    })
    this.#core = new NodeCore(
      { self: identity.nodeId, limits },
      {
        effects: this.#nodeEffects(),
        verify: (batch) => modules.verify(batch),
        readsForMs: (streamId, userId) =>
          modules.readerPolicy === undefined ? Infinity : modules.readerPolicy.readsForMs(streamId, userId),
        verifyMembership: (token, nodeId, wallMs) => modules.verifyMembership(token, nodeId, wallMs),
        membershipToken: () => modules.membershipToken(),
        checkPublisher: (streamId, publisherId, wallMs, oldestMs) =>
          publisherPolicy.check(streamId, publisherId, wallMs, oldestMs),
        rttOf: (peerId) => this.#wires.links.peers.get(peerId)?.rttMs,
        canTakeMore: (peerId) => this.#wires.links.peers.get(peerId)?.writable ?? false,
        hasArchive: modules.archive !== undefined,
      },
    )
    this.#tracer = tracing
      ? new Tracer({
          clock,
          send: (peerId, packet) => void this.#wires.links.send(peerId, packet),
          rttOf: (peerId) => this.#wires.links.peers.get(peerId)?.rttMs,
        })
      : undefined
    this.#archive = new ArchiveRequests({
      archive: modules.archive,
      give: (bytes) => this.#takeArchived(bytes),
      ended: (gap) => this.#dispatch({ type: 'archiveEnded', gap }),
      onError: (error) => this.#tellOfError(error),
    })
    this.#direct = new DirectLinks({
      links: this.#wires.links,
      dispatch: (event) => this.#dispatch(event),
      assertRunning: () => this.#assertRunning(),
    })
    this.#storage = new StorageSearch(
      { timeoutMs: dialTimeoutMs },
      {
        clock,
        visit: (streamPartId) => this.#visit(streamPartId),
        trackerOf: (streamPartId) => this.#trackerLinks.wayFor(streamPartId)?.trackerId,
        send: (trackerId, packet) => {
          this.#trackerLinks.asked(packet.streamPartId, trackerId)
          return this.#trackerConnections.sendTo(trackerId, packet)
        },
        assertRunning: () => this.#assertRunning(),
      },
    )
    this.#routes = new SignalRoutes(limits, this.#core.counters)
    this.#trackerLinks = new TrackerLinks(limits, {
      effects: this.#trackerEffects(),
      trackersFor: (streamPartId) => trackers.trackersFor(streamPartId),
      random: () => random.next(),
    })
    const heartbeat = {
      pingIntervalMs: limits.trackerPingIntervalMs,
      maxMissedPongs: limits.trackerMaxMissedPongs,
    }
    this.#trackerConnections = new TrackerConnections(
      { dialTimeoutMs, limits: heartbeat },
      {
        transport: () => this.#trackerTransport(),
        events: {
          onOpened: (way) => this.#try({ way }, () => this.#onTrackerOpened(way)),
          onClosed: (way, wasOpen, error) => this.#try({}, () => this.#onTrackerClosed(way, wasOpen, error)),
          onPacket: (way, packet) => this.#try({ way }, () => this.#onTrackerPacket(way, packet)),
          onUnknown: ({ trackerId }, type) => this.#drop('packets.unknown', `type ${type} of ${trackerId}`),
        },
      },
    )
  }

  get contact(): Contact {
    const { websocket, webrtc, memory } = this.#wires.transports
    return {
      websocketUrl: websocket?.url ?? memory?.url ?? '',
      websocket: websocket !== undefined,
      webrtc: webrtc !== undefined,
    }
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
    this.#withTrackers({ streamPartId }, ({ nowMs }) => {
      const isResting = this.#core.streamParts.get(streamPartId)?.isResting ?? false
      if (!isResting) this.#trackerLinks.join(streamPartId, nowMs)
    })
  }

  leave(streamPartId: StreamPartId): void {
    this.#leave(streamPartId)
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
    const way = this.#trackerLinks.wayFor(options.streamPartId)
    if (way !== undefined) this.#routes.set(peer.nodeId, way.trackerId)
    return this.#direct.connect(peer, options.signal)
  }

  hold(peerId: NodeId): () => void {
    return this.#direct.hold(peerId)
  }

  sendDirect(peerId: NodeId, packet: DirectPacket): boolean {
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
    this.#storage.offer(streamPartId, storing)
    if (!storing || this.#core.streamParts.get(streamPartId) === undefined) return
    this.#trackerLinks.statusDue(streamPartId)
    this.#planFlush()
  }

  findStorage(streamPartId: StreamPartId, signal?: AbortSignal): Promise<readonly WantedNeighbour[]> {
    return this.#storage.find(streamPartId, signal)
  }

  on<E extends keyof NodeEvents>(event: E, listener: NodeEvents[E]): () => void {
    return this.#listeners.add(event, listener)
  }

  metrics(): {
    readonly counters: Readonly<Record<string, number>>
    readonly streamParts: readonly StreamPartMetrics[]
  } {
    const { peers } = this.#wires.links
    const gauges: Record<GaugeName, number> = {
      'links.open': peers.size,
      'trackers.open': this.#trackerConnections.open,
      'trace.clocks': this.#tracer?.knownClocks ?? 0,
    }
    const streamParts = Array.from(this.#core.streamParts, (part) => ({
      streamPartId: part.id,
      neighbours: part.attached.map((nodeId) => {
        const connection = peers.get(nodeId)
        return {
          nodeId,
          transport: connection?.transport ?? '',
          rttMs: connection?.rttMs,
          path: connection?.path,
        }
      }),
      wantedNeighbours: part.wanted.size,
      delivered: part.delivered,
      duplicates: part.duplicates,
      published: part.published,
    }))
    return { counters: { ...this.#core.counters, ...gauges }, streamParts }
  }

  kept(streamPartId: StreamPartId): Kept | undefined {
    const part = this.#core.streamParts.get(streamPartId)
    return part && keptBy(part)
  }

  async #start(): Promise<void> {
    if (this.#state === 'stopped') throw networkError('NODE_NOT_RUNNING', 'it was stopped')
    this.#wires.links.events = {
      onOpened: (peerId, connection) => this.#try({ peerId }, () => this.#linkOpened(peerId, connection)),
      onClosed: (peerId) => this.#try({ peerId }, () => this.#linkClosed(peerId)),
      onFailed: (peerId, error) => this.#try({ peerId }, () => this.#linkFailed(peerId, error)),
      onPacket: (peerId, type, body, whole) => this.#onPacket(peerId, type, body, whole),
      onDrain: () => {
        this.#waiters.check()
        this.#direct.check()
      },
    }
    const { websocket, webrtc, memory } = this.#wires.transports
    try {
      for (const transport of [memory, websocket, webrtc]) await transport?.start()
    } catch (error) {
      await this.stop()
      throw error
    }
    if (this.#state !== 'new') throw networkError('NODE_NOT_RUNNING', 'it was stopped while it started')
    this.#state = 'running'
    this.#renewMembership()
    this.#unwatchDirectory = this.#modules.trackers.onChange(() => {
      this.#withTrackers({}, ({ nowMs }) => this.#trackerLinks.update(nowMs))
    })
    this.#unwatchReaders =
      this.#modules.readerPolicy?.onChange((streamId) =>
        this.#dispatch({ type: 'permissionsChanged', streamId }),
      ) ?? this.#unwatchReaders
    this.#unwatchNetwork = this.#modules.onNetworkBack?.(() => this.#networkBack()) ?? this.#unwatchNetwork
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

  #leave(streamPartId: StreamPartId): void {
    this.#dispatch({ type: 'leave', streamPartId })
    this.#withTrackers({}, ({ nowMs }) => this.#trackerLinks.leave(streamPartId, nowMs))
  }

  async #stop(): Promise<void> {
    for (const streamPartId of this.streamParts) this.#leave(streamPartId)
    this.#state = 'stopped'
    this.#unwatchDirectory()
    this.#unwatchNetwork()
    this.#unwatchReaders()
    this.#alarm.set(Infinity)
    this.#renewal.set(Infinity)
    this.#waiters.check()
    this.#archive.stop()
    this.#direct.check()
    this.#storage.check()
    this.#wires.links.stop()
    const { websocket, webrtc, memory } = this.#wires.transports
    // WebRTC first: what closes its links may go through the tracker.
    for (const transport of [webrtc, websocket, memory]) await transport?.stop()
  }

  #dispatch(event: NodeEvent): void {
    if (this.#state === 'running') this.#sequence.run(event)
  }

  #withTrackers(owner: Owner, run: (time: Time) => void): void {
    if (this.#state === 'running') this.#sequence.run({ type: 'trackers', owner, run })
  }

  /** Never throws: what the work throws ends it, and is reported. */
  #handle(item: NodeEvent | TrackerTask): void {
    try {
      this.#carryOut(item)
    } catch (error) {
      this.#fault(ownerOf(item), error)
    }
  }

  #carryOut(item: NodeEvent | TrackerTask): void {
    const time = this.#time()
    if (item.type === 'trackers') {
      item.run(time)
      this.#planFlush()
      this.#setAlarm()
      return
    }
    this.#core.handle(item, time)
    if (item.type !== 'data' || this.#core.dueMs < this.#alarm.dueMs) this.#setAlarm()
  }

  /** Something threw in the work of somebody, of whom no more is heard for now. With nobody named, it may come again at once: what is due waits. */
  #fault(owner: Owner, error: unknown): void {
    const { streamPartId, peerId, way } = owner
    if (streamPartId !== undefined) return this.#dispatch({ type: 'partFault', streamPartId, error })
    const counter = peerId === undefined && way === undefined ? 'fault.other' : 'fault.connection'
    this.#core.counters[counter]++
    const ended = peerId ?? way?.trackerId
    this.#tellOfFault({ ...(ended !== undefined && { peerId: ended }), error })
    try {
      if (peerId !== undefined) this.#wires.links.disconnect(peerId, 'INTERNAL_ERROR', 'a fault')
      else if (way !== undefined) this.#trackerConnections.refuse(way, faultHere())
    } catch {
      // Of the first fault is told.
    }
    if (ended === undefined) this.#pausedUntilMs = this.#nowMs + this.#limits.faultPauseMs
    this.#setAlarm()
  }

  /** What a callback of a connection threw: the connection was closed. */
  #connectionFault(error: unknown): void {
    this.#core.counters['fault.connection']++
    this.#tellOfFault({ error })
  }

  #tellOfFault(fault: NodeFault): void {
    this.#listeners.emit('fault', fault)
    this.#tellOfError(fault.error)
  }

  /** On a stack of its own: what the listener throws is its owner's. */
  #tellOfError(error: unknown): void {
    this.#modules.clock.endOfTurn(() => this.#modules.onError?.(error))
  }

  #partFailed(streamPartId: StreamPartId, error: unknown): void {
    this.#tellOfFault({ streamPartId, error })
    this.#withTrackers({}, ({ nowMs }) => this.#trackerLinks.leave(streamPartId, nowMs))
  }

  #try(owner: Owner, work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#fault(owner, error)
    }
  }

  #networkBack(): void {
    this.#withTrackers({}, ({ nowMs }) => this.#trackerLinks.networkBack(nowMs))
    this.#dispatch({ type: 'networkBack' })
  }

  /** Whole, so that ages of stream parts can be told to peers as they are. */
  get #nowMs(): number {
    return Math.floor(this.#modules.clock.monotonicMs())
  }

  #time(): Time {
    return { nowMs: this.#nowMs, wallMs: this.#modules.clock.now() }
  }

  #setAlarm(): void {
    if (this.#state !== 'running') return
    const dueMs = Math.min(this.#core.dueMs, this.#trackerLinks.dueMs)
    // Whole, as the time that the cores are told: before that they would find nothing due.
    this.#alarm.set(Math.ceil(Math.max(dueMs, this.#pausedUntilMs)))
  }

  #tick(): void {
    this.#dispatch({ type: 'tick' })
    this.#withTrackers({}, ({ nowMs }) => this.#trackerLinks.tick(nowMs))
  }

  /** Trackers keep the token with the status: they are told of a new one before the old one is over. */
  #renewMembership(): void {
    this.#withTrackers({}, ({ nowMs, wallMs }) => {
      const token = this.#modules.membershipToken()
      if (token === undefined) return
      if (this.#token !== undefined && token !== this.#token)
        for (const streamPartId of this.streamParts) this.#trackerLinks.statusDue(streamPartId)
      this.#token = token
      const halfMs = (token.expiresMs - wallMs) / 2
      this.#renewal.set(nowMs + Math.max(minRenewalMs, Math.ceil(halfMs) + 1))
    })
  }

  /** Statuses leave at the end of the turn: what changes in one turn is told at once. */
  #planFlush(): void {
    if (this.#flushPlanned || !this.#trackerLinks.hasNews) return
    this.#flushPlanned = true
    this.#clock.endOfTurn(() => {
      this.#flushPlanned = false
      this.#withTrackers({}, ({ nowMs }) => this.#trackerLinks.flush(nowMs))
    })
  }

  #nodeEffects(): ConstructorParameters<typeof NodeCore>[1]['effects'] {
    const { links } = this.#wires
    const send = (peerId: NodeId, packet: Uint8Array): void => {
      this.#try({ peerId }, () => {
        if (links.send(peerId, packet)) return
        this.#drop('send.refused', `${packet.length} bytes to ${peerId}`)
      })
    }
    return {
      connect: (peerId, contact, alone) => this.#connect(peerId, contact, alone),
      disconnect: (peerId, code, text) => this.#try({ peerId }, () => links.disconnect(peerId, code, text)),
      // A packet that cannot be encoded is a fault of the stream part it is about.
      sendControl: (peerId, packet) => send(peerId, encodePacket(packet)),
      sendData: (peerId, packet) => send(peerId, this.#tracer?.outgoing(packet) ?? packet),
      accepted: (streamPartId, batch) =>
        this.#listeners.emit('batch', streamPartId, batch, this.#tracer?.travelOf(batch)),
      duplicate: (streamPartId, batch) => this.#listeners.emit('duplicate', streamPartId, batch),
      equivocation: (equivocation) => this.#listeners.emit('equivocation', equivocation),
      fillFromArchive: (gap) => this.#archive.fill(gap),
      gapLost: (gap) => this.#listeners.emit('gap', gap),
      deliver: (streamPartId, message, from) => {
        this.#listeners.emit('message', { streamPartId, message, from })
      },
      neighbours: (streamPartId, neighbours) => {
        this.#listeners.emit('neighbours', streamPartId, neighbours)
        this.#waiters.check()
      },
      statusDue: (streamPartId) => {
        this.#trackerLinks.statusDue(streamPartId)
        this.#planFlush()
      },
      resolvePublisher: (streamId, publisherId, from) => {
        const resolve = async () => this.#modules.publisherPolicy.resolve(streamId, publisherId, from)
        resolveUser(resolve, (found) => {
          this.#dispatch({ type: 'publisherResolved', streamId, publisherId, found })
        })
      },
      resolveReader: (streamId, userId, from) => {
        const resolve = async () => this.#modules.readerPolicy?.resolve(streamId, userId, from)
        resolveUser(resolve, (found) => {
          this.#dispatch({ type: 'readerResolved', streamId, userId, found })
        })
      },
      partFailed: (streamPartId, error) => this.#partFailed(streamPartId, error),
      partRested: (streamPartId) => {
        this.#withTrackers({ streamPartId }, ({ nowMs }) => this.#trackerLinks.join(streamPartId, nowMs))
      },
      dropped: (counter, detail) => this.#listeners.emit('dropped', counter, detail),
    }
  }

  #connect(peerId: NodeId, contact: Contact, alone: boolean): void {
    try {
      this.#wires.links.connect(peerId, contact, { alone })
    } catch (error) {
      this.#fault({ peerId }, error)
      this.#dispatch({ type: 'linkFailed', peerId, reason: 'unreachable' })
    }
  }

  #trackerEffects(): ConstructorParameters<typeof TrackerLinks>[1]['effects'] {
    return {
      dial: (way) => this.#trackerConnections.dial(way),
      hangUp: (way) => {
        if (this.#trackerConnections.hangUp(way)) this.#trackerGone(way)
      },
      sendNodeInfo: (way) => {
        this.#trackerConnections.send(way, { type: 'nodeInfo', contact: this.contact })
      },
      sendStatus: (way, streamPartId) => {
        const status = this.#core.takeStatus(streamPartId, this.#nowMs)
        if (status !== undefined) {
          this.#trackerConnections.send(way, status)
          this.#storage.statusSent(way.trackerId, streamPartId)
        }
        this.#setAlarm()
      },
      sendLeave: (way, streamPartId) => {
        this.#trackerConnections.send(way, { type: 'leave', streamPartId })
      },
      newSession: (streamPartId) => {
        this.#storage.newSession(streamPartId)
        this.#dispatch({ type: 'trackerSession', streamPartId })
      },
      newTracker: (streamPartId) => this.#storage.newTracker(streamPartId),
      partFailed: (streamPartId, error) => this.#fault({ streamPartId }, error),
      trackerFailed: (way, error) => {
        this.#core.counters['fault.connection']++
        this.#tellOfFault({ peerId: way.trackerId, error })
      },
      silent: (trackerId, streamPartId) => {
        this.#drop('tracker.silent', `${trackerId} does not answer the join of ${streamPartId}`)
      },
    }
  }

  #onTrackerOpened(way: Way): void {
    const { trackerId } = way
    const isFirst = this.#trackerConnections.waysTo(trackerId).length === 1
    this.#withTrackers({ way }, ({ nowMs }) => this.#trackerLinks.opened(way, nowMs))
    this.#storage.trackerChanged(trackerId)
    if (isFirst) this.#listeners.emit('tracker', trackerId, 'connected')
  }

  #onTrackerClosed(way: Way, wasOpen: boolean, error: RunnelError): void {
    this.#core.counters[wasOpen ? 'tracker.lost' : 'tracker.failed']++
    this.#withTrackers({}, ({ nowMs }) => this.#trackerLinks.closed(way, nowMs))
    this.#trackerGone(way, error)
  }

  /** One way to a tracker ended; it may be connected by another. */
  #trackerGone({ trackerId }: Way, error?: RunnelError): void {
    this.#storage.trackerChanged(trackerId)
    if (this.#trackerConnections.waysTo(trackerId).length === 0)
      this.#listeners.emit('tracker', trackerId, 'disconnected', error)
  }

  #onTrackerPacket(way: Way, packet: TrackerToNode): void {
    switch (packet.type) {
      case 'instruction':
        this.#onInstruction(way, packet)
        break
      case 'redirect':
        this.#onRedirect(way, packet)
        break
      case 'signal':
        this.#routes.set(packet.peerId, way.trackerId)
        this.#wires.transports.webrtc?.handleSignal(packet)
        break
      case 'iceServers':
        this.#wires.transports.webrtc?.setIceServers(packet.servers)
        break
      case 'storageNodes':
        if (!this.#storage.answered(way.trackerId, packet)) {
          this.#drop('tracker.unexpected', `storage nodes of ${packet.streamPartId}`)
        }
        break
      case 'trackerError':
        this.#drop('tracker.refused', `${packet.code}: ${packet.message}`)
        break
    }
  }

  #onInstruction(way: Way, instruction: Instruction): void {
    const { streamPartId } = instruction
    this.#withTrackers({ streamPartId }, ({ nowMs }) => {
      if (this.#trackerLinks.instructed(way, instruction.streamPartId, nowMs)) {
        this.#dispatch({ type: 'instruction', instruction })
      } else this.#drop('tracker.unexpected', `an instruction for ${instruction.streamPartId}`)
    })
  }

  #onRedirect(way: Way, { streamPartId, leaderId }: Redirect): void {
    this.#withTrackers({ streamPartId }, ({ nowMs }) => {
      if (!this.#trackerLinks.redirected(way, streamPartId, leaderId, nowMs))
        this.#drop('tracker.unexpected', `a redirect of ${streamPartId} to ${leaderId}`)
      this.#storage.redirected(way.trackerId, streamPartId)
    })
  }

  #onPacket(peerId: NodeId, type: number, body: Uint8Array, whole: Uint8Array): void {
    const scope = packetKind(type)?.scope
    switch (scope) {
      case 'neighbours':
        return this.#dispatch(eventOfPacket(peerId, type, body, whole, this.#onTraced))
      case 'toStorage':
      case 'fromStorage':
        return this.#onDirect(peerId, type, body)
      case 'clocks':
        return this.#onClock(peerId, type, body)
      case undefined:
        return this.#drop('packets.unknown', `type ${type} of ${peerId}`)
      default:
        this.#dispatch({ type: 'malformed', peerId, detail: `a packet of type ${type} between nodes` })
    }
  }

  /** Who does not measure has nothing to say about clocks. */
  #onClock(peerId: NodeId, type: number, body: Uint8Array): void {
    try {
      this.#tracer?.handleClock(peerId, type, body)
    } catch (error) {
      this.#dispatch({ type: 'malformed', peerId, detail: textOf(error) })
    }
  }

  #onDirect(peerId: NodeId, type: number, body: Uint8Array): void {
    let packet: DirectPacket
    try {
      // It is kept longer than the frame that it came in.
      packet = decodePacket(type, body.slice()) as DirectPacket
    } catch (error) {
      this.#dispatch({ type: 'malformed', peerId, detail: textOf(error) })
      return
    }
    this.#listeners.emit('direct', peerId, packet)
  }

  #takeArchived(batchBytes: Uint8Array): void {
    this.#dispatch({ type: 'archived', ...dataPacket(batchBytes) })
  }

  #visit(streamPartId: StreamPartId): () => void {
    this.#withTrackers({ streamPartId }, ({ nowMs }) => this.#trackerLinks.visit(streamPartId, nowMs))
    return () =>
      this.#withTrackers({ streamPartId }, ({ nowMs }) => this.#trackerLinks.unvisit(streamPartId, nowMs))
  }

  /** Through the tracker that ordered the edge to the peer; for an answer, through the one the offer came by. */
  #sendSignal(signal: Signal): boolean {
    const trackerId = this.#trackerThatOrdered(signal.peerId) ?? this.#routes.get(signal.peerId)
    if (trackerId !== undefined && this.#trackerConnections.sendTo(trackerId, signal)) return true
    this.#drop('signal.refused', `${signal.kind} for ${signal.peerId}`)
    return false
  }

  #trackerThatOrdered(peerId: NodeId): NodeId | undefined {
    for (const part of this.#core.streamParts) {
      const home = this.#trackerLinks.homeOf(part.id)
      if (home !== undefined && part.wanted.has(peerId)) return home
    }
    return undefined
  }

  #trackerTransport(): NodeTransports['websocket'] {
    return this.#wires.transports.websocket ?? this.#wires.transports.memory
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

function faultHere(): RunnelError {
  return networkError('TRACKER_LOST', 'there was a fault in what it was for')
}

function ownerOf(item: NodeEvent | TrackerTask): Owner {
  if (item.type === 'trackers') return item.owner
  return 'peerId' in item ? { peerId: item.peerId } : {}
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
