import {
  limits as wireLimits,
  type Contact,
  type Instruction,
  type NodeId,
  type Random,
  type Status,
  type StreamPartId,
} from '@runnel/protocol'
import type { TrackerLimits } from '../limits.ts'
import { Claims, mutualEdges } from './claims.ts'
import { Distances } from './coordinates/distances.ts'
import type { CounterName } from './counters.ts'
import { Guests } from './guests.ts'
import { Member } from './member.ts'
import type { Replica } from './replica.ts'
import { TokenBucket } from './timing/token-bucket.ts'
import { OverlayTopology } from './topology/overlay-topology.ts'

/** What a stream part needs of the tracker around it. */
export interface StreamPartHost {
  readonly limits: TrackerLimits
  isConnected(id: NodeId): boolean
  contactOf(id: NodeId): Contact | undefined
  /** Whether the pair should rather not be connected. Symmetric. */
  avoids(a: NodeId, b: NodeId): boolean
  /** The edge failed: avoid the pair for a while. */
  avoid(a: NodeId, b: NodeId): void
  /** The edge is no longer wanted: let signals pass for a while. */
  permitSignals(a: NodeId, b: NodeId): void
  instruct(member: Member, instruction: Instruction): void
  /** A status has answered the newest instruction, or the member is gone. */
  settle(member: Member): void
  /** A node of a replica counts as in this stream part until it should have reported. False when there are too many nodes. */
  expect(part: StreamPart, id: NodeId, contact: Contact): boolean
  /** The node is no longer in this stream part. */
  onRemoved(part: StreamPart, id: NodeId): void
  count(name: CounterName, by?: number): void
}

/**
 * What edges an overlay is made of: `random` ones only, or near ones besides, chosen by round-trip times
 * (docs/decisions/009-topology-aware.md).
 */
export type OverlayPolicy = 'random' | 'topology-aware'

/** Of its nodes a stream part tries to improve one in so many at a time… */
const improvedShare = 8
/** … and one in so many when all were tried this often and nothing was found. */
const restingShare = 128
const roundsBeforeRest = 4

/** Reports of a lost node that are believed at once, while its connection to the tracker is gone too. */
const lostQuorum = 2

/** Of a neighbour that a node has, and that has not come here yet: nobody can dial it. */
const unknownContact: Contact = { websocketUrl: '', websocket: false, webrtc: false }

/** One overlay: who is in it, what each was told, and what has to be told. Instructions wait for `flush`. */
export class StreamPart {
  readonly id: StreamPartId
  readonly topology: OverlayTopology<NodeId>
  readonly #members = new Map<NodeId, Member>()
  readonly #claims = new Claims<NodeId>()
  /** Of an overlay that is about to be taken over. */
  readonly #guests = new Guests<NodeId>()
  /** Whether nodes that were here before are guests of it. */
  #isBridged = false
  readonly #changed = new Set<NodeId>()
  readonly #host: StreamPartHost
  readonly #random: Random
  readonly #degree: number
  /** Of a topology-aware overlay. */
  #distances: Distances<NodeId> | undefined
  /** Members in turn, to be improved. */
  #walk: Iterator<NodeId> | undefined
  #attemptsInVain = 0
  /** What its last tracker left behind, until the overlay is taken over. */
  #replica: Replica | undefined

  constructor(
    options: { readonly id: StreamPartId; readonly degree: number; readonly overlay: OverlayPolicy },
    modules: { readonly random: Random; readonly host: StreamPartHost },
  ) {
    const { random, host } = modules
    this.id = options.id
    this.#host = host
    this.topology = new OverlayTopology(
      { degree: options.degree },
      { random, avoid: (a, b) => host.avoids(a, b) },
    )
    this.#random = random
    this.#degree = options.degree
    this.chooseOverlay(options.overlay)
  }

  get overlay(): OverlayPolicy {
    return this.#distances === undefined ? 'random' : 'topology-aware'
  }

  /** What becomes of its edges from now on: those there are stay until there are nearer ones. */
  chooseOverlay(overlay: OverlayPolicy): void {
    if (overlay === this.overlay) return
    this.#distances = undefined
    if (overlay === 'random') return
    this.#distances = new Distances(this.#host.limits, { random: this.#random.fork('coordinates') })
    for (const [nodeId, { rttsMs }] of this.#members) this.#distances.report(nodeId, rttsMs)
    this.#attemptsInVain = 0
  }

  /** Nodes in it, those whose overlay is about to be taken over among them. */
  get size(): number {
    return this.#members.size
  }

  /** Whether some nodes wait for their overlay to be taken over. */
  get isAdopting(): boolean {
    return this.#claims.size > 0
  }

  /** Whether a node has no neighbours until the overlay is taken over, or none of that overlay. */
  get isLodgingDue(): boolean {
    return this.#claims.alone.size > 0 || (this.isAdopting && this.topology.size > 0 && !this.#isBridged)
  }

  /** Whether all nodes that others claim have reported. */
  get isClaimComplete(): boolean {
    return !this.#claims.incomplete
  }

  get hasChanges(): boolean {
    return this.#changed.size > 0
  }

  get members(): ReadonlyMap<NodeId, Member> {
    return this.#members
  }

  /**
   * The round-trip time of an edge, as shown to the public: each end measures for itself, and each may be late, so the mean
   * of both or the one there is; null before the first.
   */
  reportedRttMs(a: NodeId, b: NodeId): number | null {
    const reports = [this.#members.get(a)?.rttsMs.get(b), this.#members.get(b)?.rttsMs.get(a)]
    const known = reports.filter((rttMs) => rttMs !== undefined)
    return known.length === 0 ? null : known.reduce((sum, rttMs) => sum + rttMs, 0) / known.length
  }

  /** A status of a node; the first one joins. */
  status(nodeId: NodeId, status: Status, now: number): void {
    const known = this.#members.get(nodeId)
    const member = known ?? new Member(this.id, nodeId, status.counter)
    member.rttsMs = rttsOf(status)
    const disputed = this.#distances?.report(nodeId, member.rttsMs) ?? 0
    if (disputed > 0) this.#host.count('rttsDisputed', disputed)
    if (known === undefined) {
      this.#members.set(nodeId, member)
      this.#host.count('joins')
      this.#join(member, status)
    } else if (this.#claims.has(nodeId)) {
      this.#claim(member, status)
      this.#partFailed(member, status, now)
    } else if (this.#belongsElsewhere(member, status)) {
      this.#mark(this.topology.remove(nodeId))
      this.#claim(member, status)
    } else if (member.expected) {
      this.#confirm(member, status)
      this.#replaceFailed(member, status, now)
    } else {
      this.#acknowledge(member, status)
      this.#replaceFailed(member, status, now)
    }
  }

  /**
   * The overlay as its last tracker knew it. What nodes report counts for more: an edge of it that its ends do not know is
   * left out. False when it comes too late.
   */
  expect(replica: Replica): boolean {
    if (this.topology.size > 0) return false
    this.#replica = replica
    this.#claims.recheck((id, neighbour) => this.#isKnown(id, neighbour))
    return true
  }

  /** Lets all nodes go without a word: another tracker has them. What each would have reported comes back. */
  dissolve(): { readonly nodeId: NodeId; readonly status: Status }[] {
    const claims = this.#takeClaims()
    const statuses = [...this.#members.values()]
      .filter(({ expected }) => !expected)
      .map((member) => ({ nodeId: member.nodeId, status: statusOf(member, claims.get(member.nodeId)) }))
    const members = [...this.#members.values()]
    this.#members.clear()
    this.#changed.clear()
    for (const member of members) {
      this.#host.settle(member)
      this.#host.onRemoved(this, member.nodeId)
    }
    return statuses
  }

  /** Takes a node out; unknown ones change nothing. */
  remove(nodeId: NodeId): void {
    const member = this.#members.get(nodeId)
    if (member === undefined) return
    this.#members.delete(nodeId)
    this.#claims.delete(nodeId)
    const guests = this.#guests.of(nodeId)
    this.#guests.delete(nodeId)
    for (const id of guests) this.#parted(id)
    this.#changed.delete(nodeId)
    this.#distances?.delete(nodeId)
    this.#mark(this.topology.remove(nodeId))
    this.#host.settle(member)
    this.#host.onRemoved(this, nodeId)
  }

  /** The node's connection is there again, or new: what it was told may not have arrived. */
  reconnected(nodeId: NodeId): void {
    const member = this.#members.get(nodeId)
    if (member !== undefined) member.unsure = true
  }

  /** The node is reached in another way than its neighbours were told. */
  contactChanged(nodeId: NodeId): void {
    for (const neighbour of this.topology.neighbours(nodeId)) this.#tellAgain(neighbour)
  }

  /** The node has to be told its neighbours again, whether or not they have changed. */
  #tellAgain(nodeId: NodeId): void {
    const member = this.#members.get(nodeId)
    if (member === undefined) return
    member.mustTell = true
    this.#changed.add(nodeId)
  }

  /**
   * Takes over the edges that both ends claim. Everybody is told, even who has the neighbours it should have: it may have
   * one without an order, and would let it go, or have orders for others, and go on seeking them.
   */
  adopt(): void {
    // Guests get neighbours as all newcomers do.
    const isLasting = ([a, b]: readonly [NodeId, NodeId]) => !this.#guests.of(a).has(b)
    const mutual = mutualEdges(this.#claims.all).filter(isLasting)
    const claims = this.#takeClaims()
    const edges = [...mutual, ...this.#expectedEdges(claims)]
    const distances = this.#distances
    this.#mark(this.topology.adopt(edges, distances && ((a, b) => distances.measuredMs(a, b))))
    for (const [a, b] of edges) distances?.takenOver(a, b)
    for (const id of claims.keys()) this.#mark(this.topology.add(id))
    for (const id of claims.keys()) this.#tellAgain(id)
    this.#host.count('adoptions')
    this.#host.count('adoptedEdges', edges.length)
  }

  /**
   * Has those who would wait for neighbours until the overlay is taken over be guests of its nodes meanwhile, and some of
   * those who are here already, so that there are not two overlays. False when there is nobody they could be guests of.
   */
  lodge(): boolean {
    const { alone } = this.#claims
    const degree = this.#degree
    const reported = [...this.#claims.all].filter(([id, { size }]) => size > 0 && this.#host.isConnected(id))
    if (reported.length === 0) return false
    const hosts = reported.filter(([, { size }]) => size <= degree).map(([id]) => id)
    if (hosts.length === 0) return true
    // Whoever is claimed by somebody is no newcomer, whatever was said of it: those two stay together.
    const areClaimed = (a: NodeId, b: NodeId) => this.#claims.of(a)?.has(b) || this.#claims.of(b)?.has(a)
    const choice = {
      ...{ degree, random: this.#random },
      avoids: (a: NodeId, b: NodeId) => areClaimed(a, b) === true || this.#host.avoids(a, b),
    }
    const bridges = this.#isBridged ? [] : [...this.topology.nodes()].slice(-degree)
    this.#isBridged = true
    for (const guest of [...alone, ...bridges]) {
      const found = this.#guests.lodge(guest, hosts, choice)
      if (found.length === 0) continue
      this.#claims.setAlone(guest, false)
      this.#mark(new Set([guest, ...found]))
      if (this.#claims.has(guest)) hosts.push(guest)
    }
    return true
  }

  /** Tells everyone whose neighbours have changed since it was last told. True when there was anybody. */
  flush(): boolean {
    let told = false
    for (const id of this.#changed) {
      const member = this.#members.get(id)
      if (member === undefined || member.expected) continue
      if (this.#claims.has(id) && !this.#guests.has(id) && member.toldCounter === 0) continue
      if (!this.#host.isConnected(id)) member.unsure = true
      else if (this.#tell(member)) told = true
    }
    this.#changed.clear()
    return told
  }

  /** How many nodes to improve at a time; 0 in a random overlay. */
  get improvementsDue(): number {
    if (this.#distances === undefined || this.isAdopting) return 0
    const { size } = this.topology
    return Math.ceil(size / (this.#attemptsInVain > roundsBeforeRest * size ? restingShare : improvedShare))
  }

  /** Looks for nearer neighbours for the next `count` nodes whose turn it is; `hasChanges` says whether there were any. */
  improve(count: number, now: number): void {
    const distances = this.#distances
    if (distances === undefined) return
    const proximity = {
      distanceMs: (a: NodeId, b: NodeId) => distances.estimateMs(a, b),
      mayChange: (id: NodeId) => this.#mayExchange(id, now),
    }
    for (let i = 0; i < count; i++) {
      const id = this.#nextInTurn()
      if (id === undefined) return
      distances.learn(id)
      const { outcome, changed } = this.topology.improve(id, proximity)
      this.#attemptsInVain = outcome === 'improved' ? 0 : this.#attemptsInVain + 1
      if (outcome === 'improved') this.#host.count('edgesExchanged', 2)
      if (outcome === 'disconnecting' || outcome === 'stranding') this.#host.count('exchangesRefused')
      for (const other of changed) this.#exchangesOf(other, now)?.take(now)
      this.#mark(changed)
    }
  }

  /** Sends the newest instruction once more. */
  resend(member: Member): void {
    this.#host.instruct(member, this.#instruction(member))
  }

  #join(member: Member, status: Status): void {
    const waitsForOthers = (this.isAdopting || this.#replica !== undefined) && this.topology.size === 0
    if (this.#claimsOthers(status) || waitsForOthers) this.#claim(member, status)
    else this.#mark(this.topology.add(member.nodeId))
  }

  /** Whether a node has neighbours that are not here, or not yet: there is an overlay to be taken over. */
  #claimsOthers(status: Status): boolean {
    return status.neighbours.some(({ nodeId }) => !this.topology.has(nodeId))
  }

  /** It came before the others of its overlay; what was said of it then was older, and what it was told did not reach it. */
  #belongsElsewhere({ expected, hasAnswered, unsure, toldCounter }: Member, status: Status): boolean {
    if (expected || hasAnswered || !(unsure || status.counter > toldCounter)) return false
    return this.#claimsOthers(status)
  }

  #claim(member: Member, status: Status): void {
    const { nodeId } = member
    const { counter } = status
    member.counter = Math.max(member.counter, counter)
    const neighbours = new Set(status.neighbours.map((neighbour) => neighbour.nodeId))
    const isNews = this.#claims.add(nodeId, counter, neighbours, (id) => this.#isKnown(nodeId, id))
    if (!isNews) this.#host.count('staleStatuses')
    if (this.#guests.has(nodeId)) this.#claims.setAlone(nodeId, false)
    // Nothing was said to it but of guests and hosts.
    if (counter >= member.toldCounter) this.#host.settle(member)
    else if (member.unsure) this.#tellAgain(nodeId)
    member.unsure = false
  }

  #takeClaims(): ReadonlyMap<NodeId, ReadonlySet<NodeId>> {
    this.#mark(new Set(this.#guests.ids()))
    this.#guests.clear()
    this.#isBridged = false
    return this.#claims.take()
  }

  /**
   * Who is to be a node's neighbour. As long as its overlay is not taken over, its guests or hosts, and those that it claims
   * and that claim it.
   */
  #wantedBy(id: NodeId): ReadonlySet<NodeId> {
    const claimed = this.#claims.of(id)
    const isMutual = (other: NodeId) => this.#claims.of(other)?.has(id) === true
    const wanted = claimed === undefined ? this.topology.neighbours(id) : [...claimed].filter(isMutual)
    return new Set([...wanted, ...this.#guests.of(id)])
  }

  /** Whether a neighbour need not report before a node's claim is believed: it is in, or the replica says the same. */
  #isKnown(id: NodeId, neighbour: NodeId): boolean {
    return this.topology.has(neighbour) || (this.#replica?.hasEdge(id, neighbour) ?? false)
  }

  /**
   * Edges of the replica that not both ends deny, before the others those that none does: what one end said may be older than
   * the replica. Their ends that have not reported are in from now on, until they should have.
   */
  #expectedEdges(claims: ReadonlyMap<NodeId, ReadonlySet<NodeId>>): (readonly [NodeId, NodeId])[] {
    const replica = this.#replica
    this.#replica = undefined
    if (replica === undefined) return []
    const denies = (a: NodeId, b: NodeId) => !(claims.get(a)?.has(b) ?? true)
    const edges: (readonly [NodeId, NodeId])[] = []
    const disputed: (readonly [NodeId, NodeId])[] = []
    for (const [a, b] of replica.edges()) {
      const [byA, byB] = [denies(a, b), denies(b, a)]
      const isMutual = claims.has(a) && claims.has(b) && !byA && !byB
      if (isMutual || (byA && byB)) continue
      if (this.#expectNode(a, replica) && this.#expectNode(b, replica))
        (byA || byB ? disputed : edges).push([a, b])
    }
    return [...edges, ...disputed]
  }

  #expectNode(id: NodeId, replica: Replica): boolean {
    if (this.#members.has(id)) return true
    const contact = replica.contactOf(id)
    if (contact === undefined || !this.#host.expect(this, id, contact)) return false
    const member = new Member(this.id, id, 0)
    member.expected = true
    this.#members.set(id, member)
    return true
  }

  /** A node of the replica reports. */
  #confirm(member: Member, status: Status): void {
    member.expected = false
    member.unsure = false
    member.counter = Math.max(member.counter, status.counter)
    this.#host.count('joins')
    this.#changed.add(member.nodeId)
  }

  #acknowledge(member: Member, status: Status): void {
    const { counter } = status
    member.counter = Math.max(member.counter, counter)
    // A higher counter is another tracker's, or of the node's earlier time in this stream part: ours has to be higher.
    if (counter > member.toldCounter || (member.unsure && counter < member.toldCounter)) {
      this.#tellAgain(member.nodeId)
    } else if (counter < member.toldCounter) {
      this.#host.count('staleStatuses')
    } else {
      if (member.unsure) this.#changed.add(member.nodeId)
      member.hasAnswered = true
      const attached = new Set(status.neighbours.map(({ nodeId }) => nodeId))
      member.settled = [...member.told].every((id) => attached.has(id))
      this.#host.settle(member)
    }
    if (!member.unsure) return
    member.unsure = false
    for (const neighbour of member.lostBy) this.#fail(neighbour, member.nodeId)
    member.lostBy.clear()
  }

  #replaceFailed(member: Member, status: Status, now: number): void {
    for (const { nodeId } of status.failed) {
      const neighbour = this.#members.get(nodeId)
      if (neighbour === undefined || !this.topology.hasEdge(member.nodeId, nodeId)) continue
      if (!this.#mayFail(member, now)) this.#host.count('edgeFailuresIgnored')
      else if (this.#host.isConnected(nodeId)) this.#fail(member.nodeId, nodeId)
      else this.#lost(neighbour, member.nodeId)
    }
  }

  /** A guest and a host that cannot be had by each other. */
  #partFailed(member: Member, status: Status, now: number): void {
    for (const { nodeId } of status.failed) {
      if (!this.#guests.of(member.nodeId).has(nodeId)) continue
      if (!this.#mayFail(member, now)) {
        this.#host.count('edgeFailuresIgnored')
        continue
      }
      this.#guests.part(member.nodeId, nodeId)
      this.#host.avoid(member.nodeId, nodeId)
      for (const id of [member.nodeId, nodeId]) this.#parted(id)
    }
  }

  /** A guest or a host has lost one of the other kind. */
  #parted(id: NodeId): void {
    this.#changed.add(id)
    if (this.#claims.of(id)?.size === 0 && !this.#guests.has(id)) this.#claims.setAlone(id, true)
  }

  #mayFail(member: Member, now: number): boolean {
    const { edgeFailureBurst: burst, edgeFailuresPerSecond: perSecond } = this.#host.limits
    member.edgeFailures ??= new TokenBucket({ burst, perSecond }, now)
    return member.edgeFailures.take(now)
  }

  #nextInTurn(): NodeId | undefined {
    let step = this.#walk?.next()
    if (step === undefined || step.done === true) {
      this.#walk = this.#members.keys()
      step = this.#walk.next()
    }
    return step.done === true ? undefined : step.value
  }

  /** Only where all is in place, so that a node never opens more links than one exchange calls for. */
  #mayExchange(id: NodeId, now: number): boolean {
    const member = this.#members.get(id)
    if (member === undefined || !member.settled || member.unsure || this.#changed.has(id)) return false
    return this.#host.isConnected(id) && (this.#exchangesOf(id, now)?.has(now) ?? false)
  }

  #exchangesOf(id: NodeId, now: number): TokenBucket | undefined {
    const member = this.#members.get(id)
    const { exchangeBurst: burst, exchangesPerSecond: perSecond } = this.#host.limits
    if (member !== undefined) member.exchanges ??= new TokenBucket({ burst, perSecond }, now)
    return member?.exchanges
  }

  #fail(a: NodeId, b: NodeId): void {
    if (!this.topology.hasEdge(a, b)) return
    this.#host.avoid(a, b)
    this.#distances?.failed(a, b)
    this.#mark(this.topology.failEdge(a, b))
    this.#host.count('edgesFailed')
  }

  /** A neighbour lost a node that we lost too. One may lie; when more say so the node is not waited for. */
  #lost(member: Member, by: NodeId): void {
    member.lostBy.add(by)
    const neighbours = this.topology.neighbours(member.nodeId)
    const reports = [...member.lostBy].filter((id) => neighbours.has(id)).length
    if (reports < Math.min(lostQuorum, neighbours.size)) return
    this.#host.count('disconnected')
    this.remove(member.nodeId)
  }

  #tell(member: Member): boolean {
    const wanted = this.#wantedBy(member.nodeId)
    if (!member.mustTell && sameSet(member.told, wanted)) return false
    for (const id of member.told) if (!wanted.has(id)) this.#host.permitSignals(member.nodeId, id)
    member.counter++
    member.told = wanted
    member.mustTell = false
    member.toldCounter = member.counter
    member.resends = 0
    member.settled = false
    this.#host.instruct(member, this.#instruction(member))
    return true
  }

  #instruction(member: Member): Instruction {
    const neighbours = [...member.told].flatMap((nodeId) => {
      const contact = this.#host.contactOf(nodeId)
      return contact === undefined ? [] : [{ nodeId, contact }]
    })
    // Of what only it says it may keep what it has, and learns nothing.
    for (const nodeId of this.#claims.of(member.nodeId) ?? [])
      if (!member.told.has(nodeId)) neighbours.push({ nodeId, contact: unknownContact })
    neighbours.length = Math.min(neighbours.length, wireLimits.maxNeighbours)
    return { type: 'instruction', streamPartId: this.id, counter: member.toldCounter, neighbours }
  }

  #mark(changed: ReadonlySet<NodeId>): void {
    for (const id of changed) this.#changed.add(id)
  }
}

/** What a node would report now, as far as is known here. */
function statusOf(member: Member, claimed: ReadonlySet<NodeId> | undefined): Status {
  const neighbours = [...(claimed ?? member.told)].map((nodeId) => ({
    nodeId,
    rttMs: member.rttsMs.get(nodeId),
  }))
  const counter = claimed === undefined ? member.toldCounter : member.counter
  return { type: 'status', streamPartId: member.streamPartId, counter, neighbours, failed: [] }
}

function rttsOf(status: Status): ReadonlyMap<NodeId, number> {
  const rttsMs = new Map<NodeId, number>()
  for (const { nodeId, rttMs } of status.neighbours) if (rttMs !== undefined) rttsMs.set(nodeId, rttMs)
  return rttsMs
}

function sameSet(a: ReadonlySet<NodeId>, b: ReadonlySet<NodeId>): boolean {
  return a.size === b.size && [...a].every((id) => b.has(id))
}
