import type {
  Attach,
  MessageBatch,
  MessageChain,
  MessageRef,
  NodeId,
  StreamPartId,
  Time,
  TrackerToNode,
} from '@runnel/protocol'
import type { NetworkLimits } from '../limits.ts'
import type { HostsOptions, HostView, TrackerDirectory } from '../ports.ts'
import type { CounterName, Counters } from './counters.ts'
import type { DelegationBook } from './delegations/delegation-book.ts'
import type { NodeEffect, Owner } from './effects.ts'
import type { NodeEvent } from './events.ts'
import { reliably, type OverlayEffects } from './overlay-effects.ts'
import type { Hosts, HostsModules } from './hosts/hosts.ts'
import { Overlay } from './overlay.ts'
import type { OverlayModules } from './rooms.ts'
import type { StreamPartMap } from './stream-part/stream-part-map.ts'
import type { LinkModeTally } from './thin/link-modes.ts'
import { SignalRoutes } from './tracker-link/signal-routes.ts'
import { StorageQuestions } from './tracker-link/storage-questions.ts'
import { TrackerLinks, type TrackerLinksModules } from './tracker-link/tracker-links.ts'
import type { Way } from './tracker-link/way.ts'

export interface NodeCoreModules extends Omit<OverlayModules, 'effects' | 'isLight'> {
  /** Of a light node. */
  readonly hosts?: HostsOptions | undefined
  /** Whether a linked node serves guests; undefined without a link. */
  isHost(peerId: NodeId): boolean | undefined
  readonly trackers: Pick<TrackerDirectory, 'trackersFor'>
  /** In [0, 1): spreads reconnects. */
  random(): number
}

/**
 * A node without I/O: events and times go in, effects come out. It connects the overlays (`overlay.ts`), the choice of trackers
 * (`tracker-link/`) and the questions to trackers about storage, so that requests between them take no detour.
 */
export class NodeCore {
  readonly #overlay: Overlay
  readonly #links: TrackerLinks
  readonly #storage: StorageQuestions
  readonly #routes: SignalRoutes
  /** Of a light node, in place of trackers. */
  #hosts: Hosts | undefined
  #effects: NodeEffect[] = []
  #time: Time = { nowMs: 0, wallMs: 0 }
  /** What to do when the event is handled. */
  readonly #afterwards: (() => void)[] = []
  #awaitsTurnEnd = false

  constructor(options: { self: NodeId; limits: NetworkLimits }, modules: NodeCoreModules) {
    const { hosts } = modules
    const isLight = hosts !== undefined
    this.#overlay = new Overlay(options, { ...modules, isLight, effects: this.#overlayEffects() })
    if (hosts !== undefined && modules.lightParts !== undefined)
      this.#hosts = new modules.lightParts.Hosts(
        { ...hosts, limits: options.limits },
        this.#hostModules(modules),
      )
    this.#links = new TrackerLinks(options.limits, {
      effects: this.#trackerEffects(),
      trackersFor: (streamPartId) => modules.trackers.trackersFor(streamPartId),
      random: () => modules.random(),
    })
    this.#storage = new StorageQuestions({
      trackerOf: (streamPartId) => this.trackerOf(streamPartId),
      send: (packet) => {
        const way = this.#links.wayFor(packet.streamPartId)
        if (way === undefined) return
        this.#links.asked(packet.streamPartId, way.trackerId)
        this.#push({ type: 'sendToTracker', way, packet })
      },
      found: (requestId, nodes) => this.#push({ type: 'storageFound', requestId, nodes }),
    })
    this.#routes = new SignalRoutes(options.limits, this.counters)
  }

  get counters(): Counters {
    return this.#overlay.counters
  }

  get streamParts(): StreamPartMap {
    return this.#overlay.streamParts
  }

  /** What is known of who may sign for whom. */
  get delegations(): DelegationBook {
    return this.#overlay.delegations
  }

  /** When the next `tick` is due, by the monotonic clock; Infinity for never. */
  get dueMs(): number {
    return Math.min(this.#overlay.dueMs, this.#links.dueMs, this.#hosts?.dueMs ?? Infinity)
  }

  /** The hosts that a light node is linked to. */
  get hosts(): readonly HostView[] {
    return (this.#hosts?.linked ?? []).map((host) => ({
      ...noFigures,
      ...this.#overlay.watch?.figuresOf(host.nodeId),
      ...host,
    }))
  }

  get guests(): number {
    return this.#overlay.guests?.size ?? 0
  }

  /** Returns the effects in order. Never throws: an error ends the work that threw it, and is itself an effect. */
  handle(event: NodeEvent, time: Time): readonly NodeEffect[] {
    const effects: NodeEffect[] = (this.#effects = [])
    this.#time = time
    this.#try(ownerOf(event), () => this.#on(event))
    for (let next = this.#afterwards.shift(); next !== undefined; next = this.#afterwards.shift())
      this.#try({}, next)
    if (this.#links.hasNews && !this.#awaitsTurnEnd) {
      this.#awaitsTurnEnd = true
      effects.push({ type: 'awaitTurnEnd' })
    }
    return effects
  }

  /** True while the message at this place of the chain is missing and may still come. */
  isMissing(streamPartId: StreamPartId, chain: MessageChain, place: MessageRef): boolean {
    return this.#overlay.isMissing(streamPartId, chain, place)
  }

  /** As of the overlays. */
  urgentReceivers(streamPartId: StreamPartId, publisherId: NodeId): readonly NodeId[] {
    return this.#overlay.urgentReceivers(streamPartId, publisherId)
  }

  /** As of the overlays. */
  linkModes(nowMs: number): LinkModeTally {
    return this.#overlay.linkModes(nowMs)
  }

  /** As of the overlays. */
  headerOf(peerId: NodeId, alias: number): Uint8Array | undefined {
    return this.#overlay.headerOf(peerId, alias)
  }

  /** As of the overlays. */
  signerOf(peerId: NodeId, batch: MessageBatch): NodeId | undefined {
    return this.#overlay.signerOf(peerId, batch)
  }

  /** The connected tracker of a stream part, which may be one that is not joined. */
  trackerOf(streamPartId: StreamPartId): NodeId | undefined {
    return this.#links.wayFor(streamPartId)?.trackerId
  }

  /** The way to the connected tracker that has taken this node into a stream part. */
  memberWay(streamPartId: StreamPartId): Way | undefined {
    return this.#links.wayOfMember(streamPartId)
  }

  /**
   * The tracker that relays signals for a peer: the one that instructed the edge to it; for an answer, the one the offer
   * came through.
   */
  signalRoute(peerId: NodeId): NodeId | undefined {
    for (const part of this.streamParts) {
      const home = this.#links.homeOf(part.id)
      if (home !== undefined && part.wanted.has(peerId)) return home
    }
    return this.#routes.get(peerId)
  }

  /**
   * What a peer that is being dialled may have behind our proof, before it has proven itself: an attach that tells whoever is there nothing that the
   * tracker of the stream part does not know. Only that tracker vouches for who it is, so the signals must have come by it.
   */
  firstAttach(peerId: NodeId, nowMs: number): Attach | undefined {
    const trackerId = this.#routes.get(peerId)
    if (trackerId === undefined) return undefined
    for (const part of this.streamParts) {
      if (this.#links.homeOf(part.id) !== trackerId) continue
      const packet = this.#overlay.firstAttach(part, peerId, nowMs)
      if (packet !== undefined) return packet
    }
    return undefined
  }

  #on(event: NodeEvent): void {
    const { nowMs } = this.#time
    switch (event.type) {
      case 'join':
        this.#overlay.handle(event, this.#time)
        if (this.#hosts !== undefined) this.#hosts.joined(event.streamPartId, nowMs)
        else if (!this.streamParts.get(event.streamPartId)?.isResting)
          this.#links.join(event.streamPartId, nowMs)
        break
      case 'started':
        this.#hosts?.started(nowMs)
        break
      case 'hostFound':
        this.#hosts?.found(event.url, event.peerId, nowMs)
        break
      case 'hostFailed':
        this.#hosts?.failed(event.url, event.error, nowMs)
        break
      case 'linkOpened':
        this.#overlay.handle(event, this.#time)
        this.#hosts?.linkOpened(event.peerId, nowMs)
        break
      case 'linkClosed':
        this.#overlay.handle(event, this.#time)
        this.#hosts?.linkClosed(event.peerId, event.reason ?? '', nowMs)
        break
      case 'leave':
        this.#try({}, () => this.#overlay.handle(event, this.#time))
        this.#links.leave(event.streamPartId, nowMs)
        this.#hosts?.left(event.streamPartId, nowMs)
        break
      case 'networkBack':
      case 'tick':
        this.#try({}, () => this.#overlay.handle(event, this.#time))
        if (event.type === 'tick') this.#links.tick(nowMs)
        else this.#links.networkBack(nowMs)
        if (event.type === 'tick') this.#hosts?.tick(nowMs)
        else this.#hosts?.networkBack(nowMs)
        break
      case 'trackerOpened':
        this.#links.opened(event.way, nowMs)
        break
      case 'trackerClosed':
        this.counters[event.wasOpen ? 'tracker.lost' : 'tracker.failed']++
        this.#links.closed(event.way, nowMs)
        this.#storage.disconnected(event.way.trackerId)
        break
      case 'trackerPacket':
        this.#onTrackerPacket(event.way, event.packet)
        break
      case 'directoryChanged':
        this.#links.update(nowMs)
        break
      case 'turnEnded':
        this.#awaitsTurnEnd = false
        this.#links.flush(nowMs)
        break
      case 'contactChanged':
        this.#links.introduce()
        break
      case 'tokenRenewed':
        for (const streamPartId of this.streamParts.ids) this.#links.statusDue(streamPartId)
        break
      case 'offerStorage':
        this.#storage.offer(event.streamPartId, event.storing)
        if (event.storing && this.streamParts.get(event.streamPartId) !== undefined)
          this.#links.statusDue(event.streamPartId)
        break
      case 'findStorage':
        this.#links.visit(event.streamPartId, nowMs)
        this.#storage.ask(event.requestId, event.streamPartId)
        break
      case 'storageSearchEnded': {
        const streamPartId = this.#storage.end(event.requestId)
        if (streamPartId !== undefined) this.#links.unvisit(streamPartId, nowMs)
        break
      }
      case 'found':
        this.#found(event.peerId, this.trackerOf(event.streamPartId))
        break
      default:
        this.#overlay.handle(event, this.#time)
    }
  }

  #onTrackerPacket(way: Way, packet: TrackerToNode): void {
    const { nowMs } = this.#time
    switch (packet.type) {
      case 'instruction':
        if (this.#links.instructed(way, packet.streamPartId, nowMs))
          this.#overlay.handle({ type: 'instruction', instruction: packet }, this.#time)
        else this.#uninvited(way, packet.streamPartId)
        break
      case 'redirect':
        if (!this.#links.redirected(way, packet.streamPartId, packet.leaderId, nowMs))
          this.#drop('tracker.unexpected', `a redirect of ${packet.streamPartId} to ${packet.leaderId}`)
        this.#storage.redirected(way.trackerId, packet.streamPartId)
        break
      case 'storageNodes':
        if (!this.#storage.answered(way.trackerId, packet))
          this.#drop('tracker.unexpected', `storage nodes of ${packet.streamPartId}`)
        break
      case 'count':
        this.#push({ type: 'count', trackerId: way.trackerId, packet })
        break
      case 'signal':
        this.#found(packet.peerId, way.trackerId)
        this.#push({ type: 'takeSignal', way, signal: packet })
        break
      case 'offerTaken':
        this.#found(packet.peerId, way.trackerId)
        this.#push({ type: 'offerTaken', way, packet })
        break
      case 'iceServers':
        this.#push({ type: 'setIceServers', way, servers: packet.servers })
        break
      case 'trackerError':
        this.#drop('tracker.refused', `${packet.code}: ${packet.message}`)
        break
    }
  }

  /** An instruction of a tracker that does not serve the stream part. If this node left while it was not connected, the tracker does not know yet. */
  #uninvited(way: Way, streamPartId: StreamPartId): void {
    this.#drop('tracker.unexpected', `an instruction for ${streamPartId}`)
    if (this.streamParts.get(streamPartId) !== undefined) return
    this.#push({ type: 'sendToTracker', way, packet: { type: 'leave', streamPartId } })
  }

  #found(peerId: NodeId, trackerId: NodeId | undefined): void {
    if (trackerId !== undefined) this.#routes.set(peerId, trackerId)
  }

  #overlayEffects(): OverlayEffects {
    return {
      connect: (peerId, contact, alone, again = false) =>
        this.#push({ type: 'connect', peerId, contact, alone, again }),
      disconnect: (peerId, code, text) => this.#push({ type: 'disconnect', peerId, code, text }),
      sendControl: (peerId, packet, mayLose = false) =>
        this.#push({ type: 'sendControl', peerId, packet, mayLose }),
      sendData: (peerId, packet, _, { mayLose, short } = reliably) =>
        this.#push({ type: 'sendData', peerId, packet, mayLose, short }),
      sendUrgent: (peerId, message) => this.#push({ type: 'sendUrgent', peerId, message }),
      accepted: (streamPartId, batch) => this.#push({ type: 'accepted', streamPartId, batch }),
      duplicate: (streamPartId, batch) => this.#push({ type: 'duplicate', streamPartId, batch }),
      equivocation: (equivocation) => this.#push({ type: 'equivocation', equivocation }),
      fillFromArchive: (gap) => this.#push({ type: 'fillFromArchive', gap }),
      gapLost: (gap) => this.#push({ type: 'gapLost', gap }),
      deliver: (streamPartId, message, from, urgentBatch) =>
        this.#push({ type: 'deliver', delivery: { streamPartId, message, from, urgentBatch } }),
      latest: (peerId, packet) => this.#push({ type: 'latest', peerId, packet }),
      neighbours: (streamPartId, neighbours) => this.#push({ type: 'neighbours', streamPartId, neighbours }),
      resolveReader: (scope, userId, from, delegation) =>
        this.#push({ type: 'resolveReader', scope, userId, from, delegation }),
      resolvePublisher: (scope, publisherId, from, delegation) =>
        this.#push({ type: 'resolvePublisher', scope, publisherId, from, delegation }),
      dropped: (counter, detail) => this.#push({ type: 'dropped', counter, detail }),
      statusDue: (streamPartId, lostNeighbour) => this.#links.statusDue(streamPartId, lostNeighbour),
      partFailed: (streamPartId, error) => {
        this.#push({ type: 'fault', owner: { streamPartId }, error })
        this.#afterwards.push(() => this.#links.leave(streamPartId, this.#time.nowMs))
      },
      partRested: (streamPartId) => {
        this.#afterwards.push(() => {
          if (this.#hosts === undefined) this.#links.join(streamPartId, this.#time.nowMs)
          else
            this.#overlay.handle(
              { type: 'useHosts', hosts: this.#hosts.linked.map(({ nodeId }) => nodeId) },
              this.#time,
            )
        })
      },
      guestPart: (streamPartId, isWanted) => this.#push({ type: 'guestPart', streamPartId, isWanted }),
      hostRefused: (streamPartId, peerId, reason) =>
        this.#hosts?.refused(streamPartId, peerId, reason, this.#time.nowMs),
      hostFails: (peerId, how) => this.#hosts?.fails(peerId, how, this.#time.nowMs),
      withheld: (withheld) => {
        this.#push({ type: 'withheld', withheld })
        this.#hosts?.withheld(withheld.hostId, this.#time.nowMs)
      },
    }
  }

  #hostModules(modules: NodeCoreModules): HostsModules {
    return {
      counters: this.counters,
      random: () => modules.random(),
      isHost: (peerId) => modules.isHost(peerId),
      find: (host) => this.#push({ type: 'findHost', host }),
      drop: (peerId) =>
        this.#push({ type: 'disconnect', peerId, code: 'UNUSED', text: 'another host is used' }),
      use: (hosts) => this.#overlay.handle({ type: 'useHosts', hosts }, this.#time),
      news: (news) => this.#push({ type: 'host', news }),
    }
  }

  #trackerEffects(): TrackerLinksModules['effects'] {
    return {
      dial: (way) => this.#push({ type: 'dialTracker', way }),
      hangUp: (way) => {
        this.#push({ type: 'hangUpTracker', way })
        this.#storage.disconnected(way.trackerId)
      },
      sendNodeInfo: (way) => this.#push({ type: 'introduce', way }),
      sendStatus: (way, streamPartId) => {
        const packet = this.#overlay.takeStatus(streamPartId, this.#time.nowMs)
        if (packet === undefined) return
        this.#push({ type: 'sendToTracker', way, packet })
        this.#storage.statusSent(streamPartId)
      },
      sendLeave: (way, streamPartId) =>
        this.#push({ type: 'sendToTracker', way, packet: { type: 'leave', streamPartId } }),
      newSession: (streamPartId, lost) => {
        this.#overlay.handle({ type: 'trackerSession', streamPartId, lost }, this.#time)
        this.#storage.newTracker(streamPartId)
      },
      newTracker: (streamPartId) => this.#storage.newTracker(streamPartId),
      partFailed: (streamPartId, error) => this.#fault({ streamPartId }, error),
      silent: (trackerId, streamPartId) =>
        this.#drop('tracker.silent', `${trackerId} does not answer the join of ${streamPartId}`),
    }
  }

  #try(owner: Owner, work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#fault(owner, error)
    }
  }

  #fault(owner: Owner, error: unknown): void {
    const { streamPartId } = owner
    if (streamPartId === undefined) this.#push({ type: 'fault', owner, error })
    else this.#overlay.handle({ type: 'partFault', streamPartId, error }, this.#time)
  }

  #drop(counter: CounterName, detail: string): void {
    this.counters[counter]++
    this.#push({ type: 'dropped', counter, detail })
  }

  #push(effect: NodeEffect): void {
    this.#effects.push(effect)
  }
}

/** Of a host that has brought nothing yet. */
const noFigures = { deliveredFirst: 0, delivered: 0, late: 0, withheld: 0, lagMs: undefined }

/** The owner of the fault when handling the event throws. */
function ownerOf(event: NodeEvent): Owner {
  if ('way' in event) return event.type === 'trackerClosed' ? {} : { way: event.way }
  if ('peerId' in event) return { peerId: event.peerId }
  return event.type === 'join' || event.type === 'findStorage' ? { streamPartId: event.streamPartId } : {}
}
