import {
  limits as wireLimits,
  isKeyPart,
  scopeOfPart,
  streamOfScope,
  RareLru,
  RareSet,
  type AccessToken,
  type Attach,
  type Contact,
  type FailedNeighbour,
  type FailureReason,
  type GuestAttach,
  type Instruction,
  type NeighbourReport,
  type NodeId,
  type Membership,
  type Status,
  type PermissionScope,
  type StreamId,
  type StreamPartId,
  type Time,
} from '@runnel/protocol'
import type { NetworkLimits } from '../../limits.ts'
import type { Counters } from '../counters.ts'
import type { ChainProgress } from '../dedup/chain-progress.ts'
import { SeenMessages } from '../dedup/seen-messages.ts'
import { RecentBatches } from '../flood/recent-batches.ts'
import { LatestBatches } from '../latest/latest-batches.ts'
import { gapWaitMs } from '../gaps/gap-times.ts'
import { PartMembers, wantsToRead, type Feeder } from '../neighbours/part-members.ts'
import { PartGaps, type PartGapsModules } from '../gaps/part-gaps.ts'
import type { SharedBytes } from '../shared-bytes.ts'
import { isAttached, newEdge, type Edge } from './edge.ts'
import { PartFaults } from './part-faults.ts'
import { StatusSchedule } from './status-schedule.ts'

export interface StreamPartModules {
  readonly counters: Counters
  readonly recentBytes: SharedBytes
  readonly latestBytes: SharedBytes
  readonly onGapLost: PartGapsModules['onLost']
  /** A neighbour or a guest is attached no longer, or may be another process than it was. */
  gone(peerId: NodeId): void
  rttOf(peerId: NodeId): number | undefined
  /** How late a batch of a chain may be where its flood is thin; 0 for others. */
  lateMs(progress: ChainProgress): number
  /** Sent with the attach and the status: the user that the node acts for, when that is not itself. */
  membershipToken(): AccessToken | undefined
}

/** What a tracker is told of the links to neighbours. */
export interface ReportedLinks {
  rttOf(peerId: NodeId): number | undefined
  /** A number of `transportCode`. */
  transportOf(peerId: NodeId): number
}

/** Of a host, which is linked already. */
const noContact: Contact = { addresses: [], dials: [] }

type FullReport = NeighbourReport & { readonly transport: number }

/** One joined stream part: what is wanted, who is attached, what was seen, and what the tracker should hear. */
export class StreamPart {
  readonly id: StreamPartId
  readonly streamId: StreamId
  /** What permissions are asked for here. */
  readonly scope: PermissionScope
  readonly members: PartMembers
  readonly seen: SeenMessages
  readonly recent: RecentBatches
  readonly latest: LatestBatches
  readonly gaps: PartGaps
  readonly schedule: StatusSchedule
  readonly faults: PartFaults
  readonly edges = new Map<NodeId, Edge>()
  /** Peers that were wanted or had an edge when `NodeCore` last looked. */
  involved: ReadonlySet<NodeId> = new Set()
  wanted: ReadonlyMap<NodeId, Contact> = new Map()
  /** Wanted peers that said they are not in this stream part, until they attach or an instruction names them again. */
  readonly departed = new RareSet<NodeId>()
  /** When a permission to read ends, or the registry is to be asked again. */
  readersDueMs = Infinity
  /** Since when there is a tracker again after the connection to one was lost; undefined once it has sent an instruction. */
  backSinceMs: number | undefined
  /** When `reconcile` wants to look again. */
  wakeAtMs = Infinity
  delivered = 0
  duplicates = 0
  published = 0
  readonly #limits: NetworkLimits
  readonly #counters: Counters
  readonly #membershipToken: StreamPartModules['membershipToken']
  readonly #isLight: boolean
  readonly #gone: StreamPartModules['gone']
  #joinedMs: number
  #reads = true
  #attached: readonly NodeId[] = []
  #guests: readonly NodeId[] = []
  #receivers: readonly NodeId[] = []
  /** Counter of the newest instruction handled, as reported. */
  #counter = 0
  /** Counter below which an instruction is stale; starts again with each connection of the tracker. */
  #sessionCounter = 0
  readonly #failed = new RareLru<NodeId, FailureReason>(wireLimits.maxFailedNeighbours)
  /** Peers that were detached because nobody ordered them, and until when they are refused again. */
  readonly #refusedUntilMs: RareLru<NodeId, number>
  #reported: readonly NeighbourReport[] = []
  /** The transports that the tracker knows. */
  #toldTransports: ReadonlyMap<NodeId, number> = new Map()

  constructor(
    options: {
      id: StreamPartId
      joinedMs: number
      limits: NetworkLimits
      /** Its neighbours are hosts. */
      isLight?: boolean
      faults?: PartFaults
    },
    modules: StreamPartModules,
  ) {
    this.id = options.id
    this.scope = scopeOfPart(options.id)
    this.streamId = streamOfScope(this.scope)
    this.#joinedMs = options.joinedMs
    this.#limits = options.limits
    this.#isLight = options.isLight ?? false
    this.#gone = (peerId) => modules.gone(peerId)
    this.#refusedUntilMs = new RareLru(options.limits.maxRefused)
    this.#counters = modules.counters
    this.#membershipToken = () => modules.membershipToken()
    this.members = new PartMembers(options.limits)
    const { limits, joinedMs } = options
    const { counters, rttOf } = modules
    this.gaps = new PartGaps(limits, {
      counters,
      onLost: modules.onGapLost,
      waitMs: () => gapWaitMs(this.#attached, rttOf, limits),
      lateMs: (progress) => modules.lateMs(progress),
    })
    const seenLimits = isKeyPart(this.scope) ? { ...limits, maxChains: limits.maxKeyChains } : limits
    this.seen = new SeenMessages({ limits: seenLimits, joinedMs }, { counters, watch: this.gaps })
    this.recent = new RecentBatches(options.limits, {
      shared: modules.recentBytes,
      counters: modules.counters,
    })
    this.latest = new LatestBatches(limits, { shared: modules.latestBytes, counters })
    this.schedule = new StatusSchedule(options.limits)
    this.faults = options.faults ?? new PartFaults(limits)
  }

  /** By the monotonic clock: from when on messages are wanted. */
  get joinedMs(): number {
    return this.#joinedMs
  }

  /** False: the node is a feeder here. It may publish and not read, or is light and has no reader. */
  get reads(): boolean {
    return this.#reads
  }

  /** Who begins to read wants what is published from then on, as if it joined then. */
  setReads(reads: boolean, nowMs: number): void {
    if (reads === this.#reads) return
    this.#reads = reads
    if (!reads) return
    this.#joinedMs = nowMs
    this.seen.joinedMs = nowMs
  }

  /**
   * When it was joined, in Unix milliseconds by the wall clock as it is set now, to compare with the timestamps of
   * publishers.
   */
  joinedWallMs({ nowMs, wallMs }: Time): number {
    return wallMs - (nowMs - this.#joinedMs)
  }

  /** The attached neighbours; of a light node its hosts. */
  get attached(): readonly NodeId[] {
    return this.#attached
  }

  get guests(): readonly NodeId[] {
    return this.#guests
  }

  /** The guests that publish this user's messages, and have nothing of others to give. */
  guestsOf(publisherId: NodeId): readonly NodeId[] {
    return this.#guests.filter((peerId) => this.edges.get(peerId)?.userId === publisherId)
  }

  /** Everybody who is sent what comes: the neighbours first, then guests. */
  get receivers(): readonly NodeId[] {
    return this.#receivers
  }

  /** The edges that make up the overlay. */
  get ordered(): ReadonlyMap<NodeId, Edge> {
    if (this.#guests.length === 0) return this.edges
    return new Map([...this.edges].filter(([, { isGuest }]) => !isGuest))
  }

  get dueMs(): number {
    // A feeder looks for nothing.
    const gapsDueMs = this.reads ? this.gaps.dueMs : Infinity
    const { restsUntilMs } = this.faults
    return Math.min(
      ...[this.wakeAtMs, this.schedule.dueMs, this.recent.dueMs, gapsDueMs, this.readersDueMs, restsUntilMs],
    )
  }

  /** After a fault it has no neighbours for a while, and takes only what this process publishes. */
  get isResting(): boolean {
    return this.faults.isResting
  }

  /** The wanted peers, except those that said they are not in this stream part. */
  get pursued(): ReadonlyMap<NodeId, Contact> {
    if (this.departed.size === 0) return this.wanted
    return new Map([...this.wanted].filter(([peerId]) => !this.departed.has(peerId)))
  }

  isAttached(peerId: NodeId): boolean {
    return isAttached(this.edges.get(peerId))
  }

  /**
   * Whether a batch of this publisher may come from a peer: anybody's from neighbours, its own user's from a feeder. The same
   * goes for a peer that attached and waits for the registry: it may have our attach, send, and disconnect before the answer
   * comes.
   */
  takesFrom(peerId: NodeId, publisherId: NodeId): boolean {
    if (!this.reads) return false
    const { feeders, waiting } = this.members
    const attach = waiting.get(peerId)
    if (this.isAttached(peerId) || (attach !== undefined && wantsToRead(attach.packet))) return true
    return (feeders.get(peerId) ?? attach)?.userId === publisherId
  }

  /**
   * Whether this node has attached to read from a peer, whose own attach is still to come. Urgent packets and those that may be lost overtake it:
   * the peer has been a neighbour since it heard of ours.
   */
  awaitsAttach(peerId: NodeId): boolean {
    const edge = this.edges.get(peerId)
    return this.reads && edge?.sent === true && !edge.received
  }

  /**
   * The stream part has another tracker, or a new connection to the same one. That tracker may not have heard of silent
   * neighbours, so they are reported again.
   */
  newSession(): void {
    this.#sessionCounter = 0
    this.#toldTransports = new Map()
    for (const edge of this.edges.values()) edge.reported = false
  }

  /** Its tracker knows nobody else in it. */
  get isAlone(): boolean {
    return this.#sessionCounter > 0 && this.wanted.size === 0
  }

  /**
   * Sets the wanted peers; false when the instruction is not newer than the one before, or so much newer that it would use up the counters: no
   * tracker, also no honest one, could instruct this node any more.
   */
  instruct(instruction: Instruction, self: NodeId, nowMs: number): boolean {
    if (instruction.counter <= this.#sessionCounter) return false
    if (instruction.counter > this.#counter + this.#limits.maxCounterStep) return false
    this.#sessionCounter = this.#counter = instruction.counter
    const wanted = new Map<NodeId, Contact>()
    for (const { nodeId, contact } of instruction.neighbours) if (nodeId !== self) wanted.set(nodeId, contact)
    this.wanted = wanted
    this.departed.clear()
    for (const [peerId, edge] of this.edges) {
      if (wanted.has(peerId)) {
        edge.unwantedSinceMs = undefined
        edge.wasWanted = true
      } else if (edge.sent) edge.unwantedSinceMs ??= nowMs
      else this.edges.delete(peerId)
    }
    for (const peerId of wanted.keys()) this.#refusedUntilMs.delete(peerId)
    this.schedule.instructed(nowMs)
    return true
  }

  /** Sets the hosts that a light node uses; what it has with others ends with their links. */
  useHosts(hosts: readonly NodeId[]): void {
    this.wanted = new Map(hosts.map((peerId) => [peerId, noContact]))
  }

  edgeTo(peerId: NodeId, nowMs: number): Edge {
    let edge = this.edges.get(peerId)
    if (edge === undefined) {
      edge = newEdge(this.wanted.has(peerId), nowMs)
      this.edges.set(peerId, edge)
    }
    return edge
  }

  /** Neighbours that attached although no instruction names them. */
  get provisional(): number {
    let count = 0
    for (const edge of this.edges.values()) if (edge.unwantedSinceMs !== undefined && !edge.wasWanted) count++
    return count
  }

  refuse(peerId: NodeId, nowMs: number): void {
    this.#refusedUntilMs.set(peerId, nowMs + this.#limits.refusedMs)
  }

  /** Lets refused peers attach again. */
  forgetRefused(): void {
    this.#refusedUntilMs.clear()
  }

  isRefused(peerId: NodeId, nowMs: number): boolean {
    return (this.#refusedUntilMs.peek(peerId) ?? 0) > nowMs
  }

  /** Reports a failed edge with the next status. */
  fail(peerId: NodeId, reason: FailureReason): void {
    if (this.#failed.set(peerId, reason)) this.#counters['status.failuresDropped']++
  }

  /** Updates `attached` and `guests` from the edges; true when the neighbours changed. */
  updateAttached(): boolean {
    const attached: NodeId[] = []
    const guests: NodeId[] = []
    for (const [peerId, edge] of this.edges)
      if (isAttached(edge)) (edge.isGuest ? guests : attached).push(peerId)
    const isChanged = !isSame(attached, this.#attached)
    if (!isChanged && isSame(guests, this.#guests)) return false
    const before = this.#receivers
    this.#attached = attached
    this.#guests = guests
    this.#receivers = [...attached, ...guests]
    for (const peerId of before) if (!this.#receivers.includes(peerId)) this.forget(peerId)
    for (const peerId of attached) this.#failed.delete(peerId)
    return isChanged
  }

  /** What a peer has, and what it asked for and was asked for, counts no more. */
  forget(peerId: NodeId): void {
    this.seen.neighbourGone(peerId)
    this.#gone(peerId)
  }

  /**
   * Our attach: asks for everything since we joined that we lack. With more chains than heads fit, that would bring much again;
   * if other neighbours make sure that nothing is missed, only the latest is asked for.
   */
  attachPacket(nowMs: number): Attach | GuestAttach {
    const type = this.#isLight ? 'guestAttach' : 'attach'
    // A feeder wants nothing.
    if (!this.reads) return { type, streamPartId: this.id, sinceMs: 0, heads: [], ...this.#membership() }
    const complete = this.seen.chains <= wireLimits.maxChainHeads || this.#attached.length === 0
    const ageMs = Math.min(this.#limits.maxRecentAgeMs, Math.max(1, nowMs - this.#joinedMs))
    return {
      type,
      streamPartId: this.id,
      sinceMs: complete ? ageMs : Math.min(ageMs, this.#limits.replayMarginMs),
      heads: this.seen
        .heads()
        .slice(0, wireLimits.maxChainHeads)
        .map(({ head }) => head),
      ...this.#membership(),
    }
  }

  /** Our answer to a feeder: asks for what it published and we lack, and reveals nothing of others. */
  attachForFeeder({ userId }: Feeder, nowMs: number): Attach {
    return {
      type: 'attach',
      streamPartId: this.id,
      sinceMs: Math.min(this.#limits.maxRecentAgeMs, Math.max(1, nowMs - this.#joinedMs)),
      heads: this.seen
        .heads()
        .filter(({ head }) => head.publisherId === userId)
        .slice(0, wireLimits.maxChainHeads)
        .map(({ head }) => head),
      ...this.#membership(),
    }
  }

  #membership(): { readonly membership?: Membership } {
    const token = this.#membershipToken()
    return this.reads && token === undefined ? {} : { membership: { reads: this.reads, token } }
  }

  /** The status to send now; what failed is reported once, and transports when one is another than the tracker knows. */
  takeStatus(links: ReportedLinks, nowMs: number): Status {
    const reports = this.#reports(links)
    const isNews = this.#hasNewTransport(reports)
    this.#reported = isNews ? reports : reports.map(({ nodeId, rttMs }) => ({ nodeId, rttMs }))
    // A tracker that has to ask the registry first keeps only the newest status until then.
    if (this.#sessionCounter > 0)
      this.#toldTransports = new Map(reports.map(({ nodeId, transport }) => [nodeId, transport]))
    const failed: FailedNeighbour[] = []
    this.#failed.forEach((reason, nodeId) => failed.push({ nodeId, reason }))
    this.#failed.clear()
    this.schedule.sent(
      this.#reported.every(({ rttMs }) => rttMs !== undefined),
      nowMs,
    )
    return {
      type: 'status',
      streamPartId: this.id,
      counter: this.#counter,
      neighbours: this.#reported,
      failed,
      ...this.#membership(),
    }
  }

  /**
   * True when a transport is news to the tracker, or a round-trip time: it was unknown, or changed by a quarter and by two
   * milliseconds.
   */
  hasNews(links: ReportedLinks): boolean {
    const reports = this.#reports(links)
    if (this.#hasNewTransport(reports)) return true
    return reports.some(({ nodeId, rttMs }) => {
      if (rttMs === undefined) return false
      const before = this.#reported.find((report) => report.nodeId === nodeId)?.rttMs
      return before === undefined || Math.abs(rttMs - before) > Math.max(2, before / 4)
    })
  }

  #hasNewTransport(reports: readonly FullReport[]): boolean {
    return reports.some(({ nodeId, transport }) => transport !== (this.#toldTransports.get(nodeId) ?? 0))
  }

  #reports(links: ReportedLinks): FullReport[] {
    return this.#attached
      .slice(0, wireLimits.maxNeighbours)
      .map((nodeId) => ({ nodeId, rttMs: links.rttOf(nodeId), transport: links.transportOf(nodeId) }))
  }
}

function isSame(some: readonly NodeId[], others: readonly NodeId[]): boolean {
  return some.length === others.length && some.every((peerId, i) => peerId === others[i])
}
