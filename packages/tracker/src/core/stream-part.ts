import type { Contact, NodeId, Random, Status, StreamPartId } from '@runnel/protocol'
import { Adoption } from './adoption.ts'
import { EdgeFailures } from './edge-failures.ts'
import { expectedEdges } from './expected-edges.ts'
import { Feeds } from './feeds.ts'
import { Improvements } from './improvements.ts'
import { Instructions } from './instructions.ts'
import { MemberReports } from './member-reports.ts'
import { rttsOf, statusOf } from './member-status.ts'
import { Member } from './member.ts'
import { Overlay, type OverlayKind } from './overlay.ts'
import type { Replica } from './replica.ts'
import type { StreamPartHost } from './stream-part-host.ts'
import type { OverlayStrategy } from './strategies/overlay-strategy.ts'

/** What a stream part as a whole needs of the tracker around it. */
export interface StreamPartTracker extends StreamPartHost {
  /** A node of a replica counts as in this stream part until it should have reported. False when there are too many nodes. */
  expect(part: StreamPart, id: NodeId, contact: Contact): boolean
  /** The node is no longer in this stream part. */
  onRemoved(part: StreamPart, id: NodeId): void
}

/**
 * One overlay: who is in it, who is connected to whom, and what becomes of it when nodes report. Before it is taken over it is
 * an `Adoption`; who has to be told what is up to `Instructions`, which wait for `flush`.
 */
export class StreamPart {
  readonly id: StreamPartId
  /** Who publishes to it and does not read it. */
  readonly feeds: Feeds
  readonly #members = new Map<NodeId, Member>()
  readonly #reports: MemberReports
  readonly #adoption: Adoption
  readonly #instructions: Instructions
  readonly #improvements: Improvements
  readonly #host: StreamPartTracker
  readonly #overlay: Overlay

  constructor(
    id: StreamPartId,
    kind: OverlayKind,
    modules: { readonly random: Random; readonly host: StreamPartTracker },
  ) {
    const { random, host } = modules
    this.id = id
    this.#host = host
    const overlay = new Overlay(kind, {
      ...{ random, maxMeasuredPeers: host.limits.maxMeasuredPeers },
      avoid: (a, b) => host.avoids(a, b),
      networkOf: (nodeId) => host.networkOf(nodeId),
      isPublisher: (nodeId) => host.publishes(id, nodeId),
    })
    const members = this.#members
    const adoption = new Adoption({ random, overlay, host })
    const instructions = new Instructions({ members, overlay, adoption, host })
    const failures = new EdgeFailures({
      ...{ members, overlay, adoption, instructions, host },
      remove: (nodeId) => this.remove(nodeId),
    })
    this.#overlay = overlay
    this.#improvements = new Improvements({ members, overlay, instructions, host })
    this.#instructions = instructions
    this.#adoption = adoption
    const feeds = new Feeds(id, { random, overlay, host })
    this.feeds = feeds
    this.#reports = new MemberReports({ overlay, adoption, instructions, failures, feeds, host })
  }

  get kind(): OverlayKind {
    return this.#overlay.kind
  }

  /** The edges that are wanted. */
  get topology(): OverlayStrategy<NodeId> {
    return this.#overlay.topology
  }

  /** Another strategy or degree from now on; edges stay as far as that has a use for them. False when it is the same. */
  choose(kind: OverlayKind): boolean {
    const measured = Array.from(this.#members, ([nodeId, { rttsMs }]) => [nodeId, rttsMs] as const)
    const changed = this.#overlay.choose(kind, measured)
    if (changed === undefined) return false
    this.#instructions.mark(changed)
    this.#improvements.wake()
    return true
  }

  /** Nodes in it, those whose overlay is about to be taken over among them. */
  get size(): number {
    return this.#members.size
  }

  /** Whether some nodes wait for their overlay to be taken over. */
  get isAdopting(): boolean {
    return this.#adoption.isPending
  }

  /** Whether most of its nodes are in an overlay that is known: others that wait for theirs hold up nothing. */
  get isKnown(): boolean {
    return !this.isAdopting || 2 * this.topology.size > this.size
  }

  /** Whether a node has no neighbours until the overlay is taken over, or none of that overlay. */
  get needsTemporaryEdges(): boolean {
    return this.#adoption.needsTemporaryEdges
  }

  /** Whether all nodes that others claim have reported. */
  get isClaimComplete(): boolean {
    return this.#adoption.isComplete
  }

  get hasChanges(): boolean {
    return this.#instructions.arePending || this.feeds.arePending
  }

  /** Nobody is in it, nor feeds it. */
  get isEmpty(): boolean {
    return this.#members.size === 0 && this.feeds.size === 0
  }

  /** The highest counter that a node here can know. */
  counterOf(nodeId: NodeId): number {
    return this.#members.get(nodeId)?.counter ?? this.feeds.counterOf(nodeId)
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
  status(nodeId: NodeId, status: Status, nowMs: number): void {
    const known = this.#members.get(nodeId)
    const member = known ?? new Member(this.id, nodeId, status.counter)
    member.membership = status.membership
    member.rttsMs = rttsOf(status)
    const disputed = this.topology.report(nodeId, member.rttsMs)
    if (disputed > 0) this.#host.count('rttsDisputed', disputed)
    if (known === undefined) {
      this.#members.set(nodeId, member)
      this.feeds.memberAdded(nodeId)
      this.#host.count('joins')
    }
    this.#reports.handle(member, status, nowMs)
  }

  /**
   * The overlay as its last tracker knew it. What nodes report counts for more: an edge of it that its ends do not know is
   * left out. False when it comes too late.
   */
  expect(replica: Replica): boolean {
    return this.#adoption.expect(replica)
  }

  /** What each node would report now. */
  statuses(): { readonly nodeId: NodeId; readonly status: Status }[] {
    const claimed = (id: NodeId) => (this.#adoption.has(id) ? this.#adoption.claimedBy(id) : undefined)
    const members = [...this.#members.values()]
      .filter(({ state }) => state !== 'expected')
      .map((member) => ({ nodeId: member.nodeId, status: statusOf(member, claimed(member.nodeId)) }))
    return [...members, ...this.feeds.statuses()]
  }

  /** Lets all nodes go without a word. Returns those that had reported. */
  dissolve(): NodeId[] {
    this.#adoption.take()
    const members = [...this.#members.values()]
    const feeders = [...this.feeds.nodeIds]
    const reported = members.filter(({ state }) => state !== 'expected').map(({ nodeId }) => nodeId)
    this.#members.clear()
    this.#instructions.clear()
    for (const member of members) {
      this.#host.settle(member)
      this.feeds.memberGone(member.nodeId)
      this.#host.onRemoved(this, member.nodeId)
    }
    for (const nodeId of feeders) {
      this.feeds.remove(nodeId)
      this.#host.onRemoved(this, nodeId)
    }
    return [...reported, ...feeders]
  }

  /** Takes a node out; unknown ones change nothing. */
  remove(nodeId: NodeId): void {
    const member = this.#members.get(nodeId)
    if (member === undefined) {
      if (this.feeds.remove(nodeId)) this.#host.onRemoved(this, nodeId)
      return
    }
    this.#members.delete(nodeId)
    this.feeds.memberGone(nodeId)
    this.#instructions.mark(this.#adoption.delete(nodeId))
    this.#instructions.forget(nodeId)
    this.topology.forget(nodeId)
    this.#instructions.mark(this.topology.remove(nodeId))
    this.#host.settle(member)
    this.#host.onRemoved(this, nodeId)
  }

  /** The node's connection is there again, or new: what it was told may not have arrived. */
  reconnected(nodeId: NodeId): void {
    const member = this.#members.get(nodeId)
    if (member !== undefined) member.unsure = true
    this.feeds.tellAgain(nodeId)
  }

  /** The node is told its neighbours again, whether or not they have changed. */
  tellAgain(nodeId: NodeId): void {
    this.#instructions.tellAgain(nodeId)
    this.feeds.tellAgain(nodeId)
  }

  /** The node is reached in another way than its neighbours were told. */
  contactChanged(nodeId: NodeId): void {
    for (const neighbour of this.topology.neighbours(nodeId)) this.#instructions.tellAgain(neighbour)
  }

  /**
   * Takes over the edges that both ends claim. Everybody is told, even who has the neighbours it should have: it may have
   * one without an order, and would let it go, or have orders for others, and go on seeking them.
   */
  adopt(): void {
    const gathered = this.#adoption.take()
    const { claims, temporary } = gathered
    this.#instructions.mark(temporary)
    const edges = [
      ...gathered.edges,
      ...expectedEdges(gathered, (id, replica) => this.#expectNode(id, replica)),
    ]
    this.#instructions.mark(this.topology.adopt(edges))
    for (const id of claims.keys()) {
      this.#members.get(id)?.step('adopted')
      this.#instructions.mark(this.topology.add(id))
    }
    for (const id of claims.keys()) this.#instructions.tellAgain(id)
    this.#host.count('adoptions')
    this.#host.count('adoptedEdges', edges.length)
  }

  /**
   * Gives waiting newcomers temporary edges until the overlay is taken over. False when no node of it has reported.
   */
  addTemporaryEdges(): boolean {
    const changed = this.#adoption.addTemporaryEdges()
    this.#instructions.mark(changed ?? [])
    return changed !== undefined
  }

  /** Tells everyone whose neighbours have changed since it was last told. True when there was anybody. */
  flush(): boolean {
    const feedersWereTold = this.feeds.flush()
    return this.#instructions.flush() || feedersWereTold
  }

  /** Sends the newest instruction once more. */
  resend(member: Member): void {
    this.#instructions.resend(member)
  }

  /** How many nodes to improve at a time; 0 where nothing can be found. */
  get improvementsDue(): number {
    return !this.topology.improves || !this.isKnown ? 0 : this.#improvements.due
  }

  /** Looks for nearer neighbours for the next `count` nodes whose turn it is; `hasChanges` says whether there were any. */
  improve(count: number, nowMs: number): void {
    if (this.topology.improves) this.#improvements.improve(count, nowMs)
  }

  #expectNode(id: NodeId, replica: Replica): boolean {
    if (this.#members.has(id)) return true
    const contact = replica.contactOf(id)
    if (contact === undefined || !this.#host.expect(this, id, contact)) return false
    const member = new Member(this.id, id, 0)
    member.step('foreseen')
    this.#members.set(id, member)
    return true
  }
}
