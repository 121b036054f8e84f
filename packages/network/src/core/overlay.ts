import type {
  AccessToken,
  ControlPacket,
  Crypto,
  Delegation,
  DelegationRef,
  Fetched,
  GuestAttach,
  Instruction,
  MessageBatch,
  MessageChain,
  MessageRef,
  NodeId,
  Status,
  StreamPartId,
  Time,
} from '@runnel/protocol'
import { isUrgentChain, urgentChainPrefix } from '@runnel/protocol'
import type { NetworkLimits } from '../limits.ts'
import { newCounters } from './counter-names.ts'
import type { CounterName, Counters } from './counters.ts'
import { drop } from './drop.ts'
import type { OverlayEffects } from './overlay-effects.ts'
import type { OverlayEvent } from './events.ts'
import { Authorship, type AuthorshipModules } from './delegations/authorship.ts'
import { DelegationBook } from './delegations/delegation-book.ts'
import { Flood } from './flood/flood.ts'
import type { RecentBytes } from './flood/recent-batches.ts'
import { FetchServer } from './gaps/fetch-server.ts'
import { Fetches } from './gaps/fetches.ts'
import { GapFiller } from './gaps/gap-filler.ts'
import { HeadPursuer } from './gaps/head-pursuer.ts'
import type { LatestBytes } from './latest/latest-batches.ts'
import type { LightParts } from './light-parts.ts'
import type { Guests } from './guests/guests.ts'
import type { HostWatch } from './hosts/host-watch.ts'
import { LatestServer } from './latest/latest-server.ts'
import { MemberCheck, type MemberCheckModules } from './neighbours/member-check.ts'
import { Neighbourhood } from './neighbours/neighbourhood.ts'
import { PeerTable } from './neighbours/peer-table.ts'
import type { PartFaults } from './stream-part/part-faults.ts'
import { StreamPart } from './stream-part/stream-part.ts'
import { StreamPartMap } from './stream-part/stream-part-map.ts'
import { Thinning } from './thin/thinning.ts'
import { UrgentFlood } from './urgent/urgent-flood.ts'
import { UrgentThinning } from './urgent/urgent-thinning.ts'

export interface OverlayModules
  extends Omit<AuthorshipModules, 'delegations'>, Omit<MemberCheckModules, 'effects'> {
  readonly effects: OverlayEffects
  /** For the references of delegations. */
  readonly crypto: Crypto
  /** The chain on which delegations have to be; undefined: any will do. */
  readonly chainId?: number | undefined
  /** Whether a delegation is signed by its user, as far as can be said without a chain, and within bounds. */
  verifyDelegation(delegation: Delegation): boolean
  /** In whose name the node acts, when that is not its own. */
  membershipToken(): AccessToken | undefined
  /** The link's smoothed round-trip time. */
  rttOf(peerId: NodeId): number | undefined
  /** By what the link goes: a number of `transportCode`. */
  transportOf(peerId: NodeId): number
  /** False while the link's queue is above its high mark. */
  canTakeMore(peerId: NodeId): boolean
  /** Bytes in that queue. */
  queuedBytes(peerId: NodeId): number
  /** Whether a neighbour may be asked to flood less to this node. */
  canThin(peerId: NodeId): boolean
  /** Whether a neighbour knows batches whose header is an alias. */
  canShorten(peerId: NodeId): boolean
  /** A light node has hosts in place of neighbours, and sends on nothing but what it publishes itself. */
  readonly isLight: boolean
  /** Whether it takes guests. */
  readonly servesGuests: boolean
  /** In a light node, and in one that takes guests. */
  readonly lightParts: LightParts | undefined
  /** The network of addresses that a peer's link comes from. */
  networkOf(peerId: NodeId): string
  /** Whether gaps that no neighbour can fill may be filled from an archive. */
  readonly hasArchive: boolean
}

/**
 * A node's part in its overlays. Its state is in `neighbours` (who should be and is a neighbour), `flood` (which batches are
 * new, valid, and forwarded), `gaps` (what is missing), and the stream parts.
 */
export class Overlay {
  readonly counters: Counters = newCounters()
  readonly #self: NodeId
  readonly #limits: NetworkLimits
  readonly #modules: OverlayModules
  readonly #parts = new StreamPartMap({ onFault: (part, error) => this.#failed(part, error) })
  readonly #recentBytes: RecentBytes = { total: 0 }
  readonly #latestBytes: LatestBytes = { total: 0 }
  readonly delegations: DelegationBook
  readonly #neighbourhood: Neighbourhood
  readonly #flood: Flood
  readonly #authorship: Authorship
  readonly #thinning: Thinning
  readonly #urgent: UrgentFlood
  readonly #urgentThinning: UrgentThinning
  readonly #fetches: Fetches
  readonly #filler: GapFiller
  readonly #pursuer: HeadPursuer
  readonly #fetchServer: FetchServer
  readonly #latestServer: LatestServer
  /** Of a node that serves guests. */
  readonly guests: Guests | undefined
  /** Of a light node. */
  readonly watch: HostWatch | undefined
  #hosts: readonly NodeId[] = []
  #dueMs = Infinity
  #nowMs = 0
  #wallMs = 0

  constructor(options: { self: NodeId; limits: NetworkLimits }, given: OverlayModules) {
    this.#self = options.self
    this.#limits = options.limits
    const { counters } = this
    const parts = this.#parts
    const delegations = new DelegationBook(options.limits, {
      crypto: given.crypto,
      chainId: given.chainId,
      verify: (delegation) => given.verifyDelegation(delegation),
    })
    const charged: OverlayEffects = {
      ...given.effects,
      sendData: (peerId, packet, _, way) => {
        this.guests?.sending(peerId, packet.length, this.#nowMs)
        given.effects.sendData(peerId, packet, undefined, way)
      },
      sendUrgent: (peerId, message) => {
        this.guests?.sending(peerId, message.batchBytes.length, this.#nowMs)
        given.effects.sendUrgent(peerId, message)
      },
    }
    const { limits, self } = options
    const { isLight, servesGuests, lightParts } = given
    const common = { ...given, effects: announcing(charged, delegations), relays: !isLight }
    this.delegations = delegations
    this.#modules = common
    const memberCheck = new MemberCheck(limits, common)
    const fetches = (this.#fetches = new Fetches(limits, { counters, effects: common.effects }))
    // The same object for all rooms: a copy with what each needs took 3 kB a node.
    const modules = {
      ...common,
      ...{ self, counters, parts, delegations, fetches, memberCheck, peers: new PeerTable(limits, counters) },
      misbehaved: (peerId: NodeId, detail: string, nowMs: number) => this.#misbehaved(peerId, detail, nowMs),
    }
    this.#neighbourhood = new Neighbourhood(limits, modules)
    this.guests =
      servesGuests && lightParts
        ? new lightParts.Guests(limits, {
            ...modules,
            attach: (peerId, packet, time) => this.#neighbourhood.attaches.onAttach(peerId, packet, time),
            dismiss: (peerId, reason, nowMs) => this.#neighbourhood.dismissGuest(peerId, reason, nowMs),
          })
        : undefined
    this.watch =
      isLight && lightParts
        ? new lightParts.HostWatch(limits, {
            ...modules,
            ageMs: (timestamp) => this.#wallMs - timestamp,
          })
        : undefined
    const thinning = (this.#thinning = new Thinning(limits, modules))
    const authorship = (this.#authorship = new Authorship(modules))
    this.#urgentThinning = new UrgentThinning(limits, {
      ...modules,
      isSeen: ({ part, id }, place) => this.#urgent.isSeen(part, id, place),
    })
    this.#urgent = new UrgentFlood(limits, { ...modules, authorship, thinning: this.#urgentThinning })
    this.#flood = new Flood(limits, { ...modules, thinning, watch: this.watch, authorship })
    this.#filler = new GapFiller(limits, modules)
    this.#pursuer = new HeadPursuer(limits, modules)
    this.#fetchServer = new FetchServer(limits, modules)
    this.#latestServer = new LatestServer(limits, modules)
  }

  /** When the next `tick` is due, by the monotonic clock; Infinity for never. */
  get dueMs(): number {
    return this.#dueMs
  }

  /** The header of the batches that a neighbour sends with this alias in its place. */
  headerOf(peerId: NodeId, alias: number): Uint8Array | undefined {
    return this.#thinning.headerOf(peerId, alias)
  }

  /** Whose signature would be asked for if a neighbour brought this batch now; undefined where none would be. */
  signerOf(peerId: NodeId, batch: MessageBatch): NodeId | undefined {
    const part = this.#parts.ofChain(batch.chain)
    if (part?.takesFrom(peerId, batch.chain.publisherId) !== true || isUrgentChain(batch.chain))
      return undefined
    return part.seen.hasNew(batch) ? this.#authorship.signerOf(batch) : undefined
  }

  get streamParts(): StreamPartMap {
    return this.#parts
  }

  /**
   * An error in the work of a stream part ends that work: the stream part begins anew, and nothing is thrown here. What this
   * throws belongs to no stream part, but to the peer of the event, if there is one.
   */
  handle(event: OverlayEvent, time: Time): void {
    const { nowMs } = time
    this.#nowMs = nowMs
    this.#wallMs = time.wallMs
    switch (event.type) {
      case 'data':
        this.#onData(event.peerId, event.batch, event.packet, time)
        this.guests?.settle(nowMs)
        return
      case 'urgent':
        this.#onUrgent(event, time)
        this.guests?.settle(nowMs)
        return
      case 'publish':
        this.#withinOf(event.batch.chain, (part) => {
          if (isUrgentChain(event.batch.chain)) this.#urgent.publish(part, event.batch, nowMs)
          else this.#flood.publish(event.batch, event.packet, nowMs)
        })
        break
      case 'publisherResolved':
        this.#flood.resolved(event, event.found, time)
        this.#neighbourhood.userResolved(
          { scope: event.scope, userId: event.publisherId, toRead: false },
          event.found,
          time,
        )
        this.guests?.userResolved(event.scope, event.found, time)
        break
      case 'readerResolved':
        this.#neighbourhood.userResolved({ ...event, toRead: true }, event.found, time)
        this.guests?.userResolved(event.scope, event.found, time)
        break
      case 'permissionsChanged':
        this.#neighbourhood.permissionsChanged(event.streamId, time)
        this.guests?.permissionsChanged()
        break
      case 'join':
        this.#join(event, nowMs)
        this.guests?.joined(event.streamPartId, time)
        break
      case 'leave':
        this.#leave(event.streamPartId, nowMs)
        break
      case 'trackerSession':
        this.#withPart(event.streamPartId, (part) => part.newSession())
        break
      case 'instruction':
        this.#onInstruction(event, nowMs)
        break
      case 'credentialRenewed':
        this.#neighbourhood.credentialRenewed(event.peerId, time)
        break
      case 'linkOpened':
        this.delegations.linkOpened(event.peerId)
        this.#neighbourhood.links.opened(event.peerId, nowMs)
        break
      case 'linkFailed':
        this.#neighbourhood.links.failed(event.peerId, event.reason, nowMs)
        break
      case 'useHosts':
        this.#hosts = event.hosts
        this.#parts.each((part) => this.#neighbourhood.useHosts(part, event.hosts, nowMs))
        break
      case 'linkClosed':
        this.#neighbourhood.links.closed(event.peerId, nowMs)
        this.guests?.linkClosed(event.peerId)
        this.#flood.linkClosed(event.peerId)
        this.#thinning.linkClosed(event.peerId)
        this.#urgent.linkClosed(event.peerId)
        this.#urgentThinning.linkClosed(event.peerId)
        this.delegations.linkClosed(event.peerId)
        this.#fetchServer.linkClosed(event.peerId)
        this.#latestServer.linkClosed(event.peerId)
        this.#fetches.linkClosed(event.peerId)
        break
      case 'control':
        this.#onControl(event.peerId, event.packet, time)
        break
      case 'archived':
        this.#onArchived(event.batch, event.packet, time)
        break
      case 'archiveEnded':
        this.#withPart(event.gap.streamPartId, (part) => this.#filler.archiveEnded(part, event.gap, nowMs))
        break
      case 'hold':
        this.#neighbourhood.links.hold(event.peerId, event.contact, nowMs)
        break
      case 'unhold':
        this.#neighbourhood.links.unhold(event.peerId, nowMs)
        break
      case 'partFault':
        this.#partFault(event.streamPartId, event.error)
        break
      case 'networkBack':
        this.#neighbourhood.links.networkBack(nowMs)
        break
      case 'unknownAlias':
        this.#drop('data.unknownAlias', `from ${event.peerId}`)
        break
      case 'unsupported':
        this.#drop('data.unsupported', `from ${event.peerId}: ${event.detail}`)
        break
      case 'malformed':
        this.#neighbourhood.links.misbehaved(event.peerId, event.detail, nowMs)
        break
      case 'tick':
        this.#thinning.tick(time)
        this.#urgentThinning.tick(time)
        this.#parts.each((part) => this.#tick(part, time))
        this.#neighbourhood.tick(time)
        this.#flood.tick(nowMs)
        this.guests?.tick(nowMs)
        this.watch?.tick(nowMs)
        break
    }
    this.guests?.settle(nowMs)
    this.#updateDue()
  }

  /** Who is sent all urgent messages of a publisher in a stream part; those who asked for less are not among them. */
  urgentReceivers(streamPartId: StreamPartId, publisherId: NodeId): readonly NodeId[] {
    const receivers = this.#parts.get(streamPartId)?.receivers ?? []
    return receivers.filter(
      (peerId) => !this.#urgentThinning.isSpared(peerId, streamPartId, publisherId, this.#nowMs),
    )
  }

  /** True while the message at this place of the chain is missing and may still come. */
  isMissing(streamPartId: StreamPartId, chain: MessageChain, place: MessageRef): boolean {
    return this.#parts.get(streamPartId)?.seen.find(chain)?.isWanted(place) ?? false
  }

  /** The status of a stream part, when it is joined; the caller sends it. */
  takeStatus(streamPartId: StreamPartId, nowMs: number): Status | undefined {
    const part = this.#parts.get(streamPartId)
    if (part === undefined) return undefined
    this.counters['status.sent']++
    const status = part.takeStatus(this.#modules, nowMs)
    this.#neighbourhood.news.statusTaken(nowMs)
    // Not a look at all stream parts: all of them may have a status due at once.
    this.#dueMs = Math.min(this.#dueMs, part.dueMs, this.#neighbourhood.dueMs)
    return status
  }

  /** The part of a batch that a peer brought; undefined where it may not come from there. */
  #partOf(peerId: NodeId, chain: MessageChain, nowMs: number): StreamPart | undefined {
    const { streamId, partition, publisherId } = chain
    const part = this.#parts.ofChain(chain)
    if (part?.takesFrom(peerId, publisherId) === true) return part
    const counter = part === undefined ? 'data.notJoined' : 'data.notAttached'
    this.#drop(counter, `${streamId}#${partition} from ${peerId}`)
    this.#neighbourhood.links.uselessData(peerId, nowMs)
    return undefined
  }

  #onUrgent(urgent: OverlayEvent & { type: 'urgent' }, time: Time): void {
    const { peerId, batch } = urgent
    const part = this.#partOf(peerId, batch.chain, time.nowMs)
    if (part === undefined) return
    const outcome = this.#parts.within(part, () => this.#urgent.receive(part, urgent, peerId, time))
    this.#dueMs = Math.min(this.#dueMs, this.#urgentThinning.dueMs)
    if (outcome === 'forged') this.#forged(peerId, batch, time.nowMs)
    else if (outcome === undefined) this.#updateDue()
  }

  #forged(peerId: NodeId, { chain }: MessageBatch, nowMs: number): void {
    this.#misbehaved(peerId, `forged: ${chain.publisherId} did not sign the batch`, nowMs)
  }

  #onData(peerId: NodeId, batch: MessageBatch, packet: Uint8Array, time: Time): void {
    const part = this.#partOf(peerId, batch.chain, time.nowMs)
    if (part === undefined) return
    if (isUrgentChain(batch.chain)) return this.#drop('urgent.asData', `from ${peerId}`)
    const outcome = this.#parts.within(part, () => {
      const received = this.#flood.receive(part, batch, packet, peerId, time)
      this.#dueMs = Math.min(this.#dueMs, part.recent.dueMs, part.gaps.dueMs)
      this.#dueMs = Math.min(this.#dueMs, this.#thinning.dueMs, this.watch?.dueMs ?? Infinity)
      return received
    })
    if (outcome === 'handled') return
    if (outcome === 'forged') this.#forged(peerId, batch, time.nowMs)
    else this.#updateDue()
  }

  #onControl(peerId: NodeId, packet: ControlPacket, time: Time): void {
    const id = 'streamPartId' in packet ? packet.streamPartId : undefined
    const part = id === undefined ? undefined : this.#parts.get(id)
    if (part === undefined) this.#takeControl(peerId, packet, time)
    else this.#parts.within(part, () => this.#takeControl(peerId, packet, time))
  }

  #takeControl(peerId: NodeId, packet: ControlPacket, time: Time): void {
    switch (packet.type) {
      case 'attach':
        this.#neighbourhood.attaches.onAttach(peerId, packet, time)
        break
      case 'guestAttach':
        if (this.guests === undefined) this.#refuseGuest(peerId, packet)
        else this.guests.onAttach(peerId, packet, time)
        break
      case 'detach':
        this.guests?.onDetach(peerId, packet.streamPartId)
        this.#neighbourhood.attaches.onDetach(peerId, packet, time.nowMs)
        break
      case 'fetch':
        this.#fetchServer.onFetch(peerId, packet, time.nowMs)
        break
      case 'fetched':
        this.#onFetched(peerId, packet, time)
        break
      case 'heads':
        this.#withPart(packet.streamPartId, (part) => this.#pursuer.onHeads(part, peerId, packet, time))
        break
      case 'thin':
        if (packet.messageChainId.startsWith(urgentChainPrefix))
          this.#urgentThinning.onThin(peerId, packet, time.nowMs)
        else this.#thinning.onThin(peerId, packet, time.nowMs)
        break
      case 'urgentDigest':
        this.#urgentThinning.onDigest(peerId, packet, time)
        break
      case 'urgentPull':
        this.#urgentThinning.onPull(peerId, packet, time.nowMs)
        break
      case 'digest':
        this.#thinning.onDigest(peerId, packet, time)
        break
      case 'askLatest':
        this.#latestServer.onAsk(peerId, packet, time.nowMs)
        break
      case 'latest':
        this.#modules.effects.latest(peerId, packet)
        break
      case 'delegation':
        this.delegations.add(packet.delegation, peerId)
        break
      case 'askDelegation':
        this.#answer(peerId, packet.ref)
    }
  }

  /** A neighbour has forgotten a delegation. */
  #answer(peerId: NodeId, ref: DelegationRef): void {
    const delegation = this.delegations.get(ref)
    if (delegation !== undefined && this.#modules.canTakeMore(peerId))
      this.#modules.effects.sendControl(peerId, { type: 'delegation', delegation })
  }

  #onFetched(peerId: NodeId, { requestId, complete }: Fetched, time: Time): void {
    const fetch = this.#fetches.take(requestId, peerId)
    if (fetch === undefined) {
      this.counters['fetch.unexpected']++
      return
    }
    this.watch?.answered(fetch.streamPartId, peerId, fetch.sentMs)
    this.#withPart(fetch.streamPartId, (part) => {
      if (fetch.claim !== undefined) this.#pursuer.fetched(part, fetch.claim, complete, time)
      else this.#filler.fetched(part, fetch, complete, time.nowMs)
      this.#filler.tick(part, time.nowMs)
    })
  }

  #refuseGuest(peerId: NodeId, { streamPartId }: GuestAttach): void {
    this.#drop('guests.refused', `${peerId} in ${streamPartId}: this node serves none`)
    this.#modules.effects.sendControl(peerId, { type: 'detach', streamPartId, reason: 'not-wanted' })
  }

  #onArchived(batch: MessageBatch, packet: Uint8Array, time: Time): void {
    this.#withinOf(batch.chain, (part) => {
      if (isUrgentChain(batch.chain)) this.#drop('urgent.asData', 'from the archive')
      else if (this.#flood.receive(part, batch, packet, undefined, time) === 'forged')
        this.counters['archive.forged']++
    })
  }

  #tick(part: StreamPart, time: Time): void {
    const { nowMs } = time
    if (part.faults.endRest(nowMs)) this.#modules.effects.partRested(part.id)
    part.recent.forgetOld(nowMs)
    part.latest.forgetOld(nowMs)
    if (!part.reads) return
    this.#pursuer.tick(part, time)
    this.#filler.tick(part, nowMs)
  }

  #misbehaved(peerId: NodeId, detail: string, nowMs: number): void {
    this.#neighbourhood.links.misbehaved(peerId, detail, nowMs)
    this.#updateDue()
  }

  #withPart(id: StreamPartId, work: (part: StreamPart) => void): void {
    const part = this.#parts.get(id)
    if (part !== undefined) this.#parts.within(part, () => work(part))
  }

  #withinOf(chain: MessageChain, work: (part: StreamPart) => void): void {
    const part = this.#parts.ofChain(chain)
    if (part !== undefined) this.#parts.within(part, () => work(part))
  }

  #join(options: Extract<OverlayEvent, { type: 'join' }>, nowMs: number): void {
    const { streamPartId: id, fillGaps, reads, keepsLatest = false } = options
    const known = this.#parts.get(id)
    if (known !== undefined) {
      known.gaps.fillGaps = fillGaps && reads
      known.latest.keeps = keepsLatest
      if (known.reads === reads) return
      known.setReads(reads, nowMs)
      this.#parts.within(known, () => this.#neighbourhood.readingChanged(known, nowMs))
      return
    }
    this.#add(id, { fillGaps, reads, keepsLatest }, nowMs)
    this.#withPart(id, (part) => {
      this.#modules.effects.statusDue(id)
      if (this.#modules.isLight) this.#neighbourhood.useHosts(part, this.#hosts, nowMs)
    })
  }

  #add(
    id: StreamPartId,
    {
      fillGaps,
      reads,
      keepsLatest,
    }: Required<Pick<Extract<OverlayEvent, { type: 'join' }>, 'fillGaps' | 'reads' | 'keepsLatest'>>,
    nowMs: number,
    faults?: PartFaults,
  ): StreamPart {
    const part = new StreamPart(
      {
        id,
        joinedMs: nowMs,
        limits: this.#limits,
        isLight: this.#modules.isLight,
        ...(faults && { faults }),
      },
      {
        counters: this.counters,
        recentBytes: this.#recentBytes,
        latestBytes: this.#latestBytes,
        rttOf: (peerId) => this.#modules.rttOf(peerId),
        lateMs: (progress) => this.#thinning.lateMs(progress),
        membershipToken: () => this.#modules.membershipToken(),
        gone: (peerId) => {
          this.watch?.gone(id, peerId)
          this.#thinning.gone(id, peerId, this.#nowMs)
          this.#urgentThinning.gone(id, peerId, this.#nowMs)
        },
        onGapLost: (chain, { after, upTo }) => {
          this.counters['gap.lost']++
          this.#modules.effects.gapLost({ streamPartId: id, chain, after, upTo })
        },
      },
    )
    part.setReads(reads, nowMs)
    part.gaps.fillGaps = fillGaps && reads
    part.latest.keeps = keepsLatest
    if (this.#modules.isLight) part.useHosts(this.#hosts)
    this.#parts.add(part)
    return part
  }

  #leave(id: StreamPartId, nowMs: number): void {
    // After a fault there is a new one with this id.
    this.#withPart(id, (part) => this.#neighbourhood.leave(part, nowMs))
    this.#parts.get(id)?.recent.clear()
    this.#parts.get(id)?.latest.clear()
    this.#fetches.drop(id)
    this.watch?.left(id)
    this.#thinning.left(id, nowMs)
    this.#urgent.left(id)
    this.#urgentThinning.left(id, nowMs)
    this.#parts.delete(id)
  }

  /**
   * Begins a stream part anew. Everything it shares with others is released, and none of its state is reused except how far its
   * message chains were received, so that nothing is delivered twice, and what it misses meanwhile is looked for like any gap.
   * When faults repeat, that state may be the cause: then nothing is kept.
   */
  #failed(part: StreamPart, error: unknown): void {
    const nowMs = this.#nowMs
    const { id, gaps, faults, latest } = part
    this.counters['fault.streamPart']++
    this.#parts.delete(id)
    const isFirst = faults.add(nowMs) === 1
    const fresh = this.#add(
      id,
      { fillGaps: gaps.fillGaps, reads: part.reads, keepsLatest: latest.keeps },
      nowMs,
      faults,
    )
    fresh.delivered = part.delivered
    fresh.duplicates = part.duplicates
    fresh.published = part.published
    this.#fetches.drop(id)
    attempt(() => this.#thinning.left(id, nowMs))
    attempt(() => this.#urgentThinning.left(id, nowMs))
    attempt(() => part.recent.clear())
    attempt(() => latest.clear())
    attempt(() => this.#neighbourhood.abandon(part, nowMs))
    if (isFirst) attempt(() => fresh.seen.resume(part.seen, nowMs))
    attempt(() => this.#loseGaps(part))
    attempt(() => part.attached.length > 0 && this.#modules.effects.neighbours(id, []))
    attempt(() => this.#modules.effects.partFailed(id, error))
  }

  /** A fault outside of this core; the stream part may be one that is not joined. */
  #partFault(id: StreamPartId, error: unknown): void {
    const part = this.#parts.get(id)
    if (part !== undefined) return this.#failed(part, error)
    this.counters['fault.streamPart']++
    this.#modules.effects.partFailed(id, error)
  }

  /** Stops looking for what was missing at a fault. */
  #loseGaps(part: StreamPart): void {
    for (const { progress } of part.seen.heads()) {
      for (const { after, upTo } of progress.wanted) {
        this.counters['gap.lost']++
        const { chain } = progress
        attempt(() => this.#modules.effects.gapLost({ streamPartId: part.id, chain, after, upTo }))
      }
    }
  }

  #onInstruction({ instruction }: OverlayEvent & { type: 'instruction' }, nowMs: number): void {
    const part = this.#parts.get(instruction.streamPartId)
    if (part === undefined) this.#drop('instruction.notJoined', instruction.streamPartId)
    else this.#parts.within(part, () => this.#instruct(part, instruction, nowMs))
  }

  #instruct(part: StreamPart, instruction: Instruction, nowMs: number): void {
    if (!part.instruct(instruction, this.#self, nowMs)) {
      this.#drop('instruction.stale', `${instruction.streamPartId} ${instruction.counter}`)
    } else {
      this.counters['instruction.handled']++
      this.#neighbourhood.instructed(part, nowMs)
      if (part.isAlone && part.attached.length === 0) this.#modules.effects.neighbours(part.id, [])
    }
  }

  #drop(counter: CounterName, detail: string): void {
    drop({ counters: this.counters, effects: this.#modules.effects }, counter, detail)
  }

  #updateDue(): void {
    let dueMs = Math.min(this.#neighbourhood.dueMs, this.#flood.dueMs, this.#thinning.dueMs)
    dueMs = Math.min(dueMs, this.#urgentThinning.dueMs)
    dueMs = Math.min(dueMs, this.guests?.dueMs ?? Infinity, this.watch?.dueMs ?? Infinity)
    this.#parts.each((part) => {
      const partDueMs = part.dueMs
      if (Number.isNaN(partDueMs)) throw new Error('a due time is NaN')
      dueMs = Math.min(dueMs, partDueMs)
    })
    for (const { faults } of this.#parts) dueMs = Math.min(dueMs, faults.restsUntilMs)
    this.#dueMs = dueMs
  }
}

/** Sends a neighbour each delegation once, before the first batch that is signed under it. */
function announcing(effects: OverlayEffects, delegations: DelegationBook): OverlayEffects {
  const announce = (peerId: NodeId, ref: DelegationRef | undefined): void => {
    const delegation = ref === undefined ? undefined : delegations.takeFor(peerId, ref)
    if (delegation !== undefined) effects.sendControl(peerId, { type: 'delegation', delegation })
  }
  return {
    ...effects,
    sendData(peerId, packet, ref, way) {
      announce(peerId, ref)
      effects.sendData(peerId, packet, undefined, way)
    },
    sendUrgent(peerId, message, ref) {
      announce(peerId, ref)
      effects.sendUrgent(peerId, message)
    },
    sendControl(peerId, packet, mayLose) {
      if (packet.type === 'latest') announce(peerId, packet.batch?.delegationRef)
      effects.sendControl(peerId, packet, mayLose)
    },
  }
}

/** After a fault, as much is done as can be. */
function attempt(work: () => unknown): void {
  try {
    work()
  } catch {
    // It follows from the fault that is reported.
  }
}
