import {
  transportOfCode,
  type Contact,
  type NodeId,
  type Random,
  type ReportedTransport,
  type Status,
  type StreamPartId,
} from '@runnel/protocol'
import { Adoption } from './adoption.ts'
import { EdgeFailures } from './edge-failures.ts'
import { expectedEdges } from './expected-edges.ts'
import { Feeds } from './feeds.ts'
import { Improvements } from './improvements.ts'
import { Instructions } from './instructions.ts'
import { MemberReports } from './member-reports.ts'
import { rttsOf, statusOf, transportsOf } from './member-status.ts'
import { Member } from './member.ts'
import { Overlay, type OverlayKind } from './overlay.ts'
import type { Replica } from './replica.ts'
import type { StreamPartHost } from './stream-part-host.ts'
import type { OverlayStrategy } from './strategies/overlay-strategy.ts'

/** What a stream part needs from the tracker. */
export interface StreamPartTracker extends StreamPartHost {
  /** Counts a node of a replica as a member until it should have reported. False when there are too many nodes. */
  expect(part: StreamPart, id: NodeId, contact: Contact): boolean
  /** The node left this stream part. */
  onRemoved(part: StreamPart, id: NodeId): void
}

/**
 * One overlay: its members, its edges, and what happens when nodes report. Before it is taken over it is an `Adoption`.
 * `Instructions` decides which nodes have to be told what, and waits for `flush`.
 */
export class StreamPart {
  readonly id: StreamPartId
  /** Nodes that publish to it and do not read it. */
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

  /** The wanted edges. */
  get topology(): OverlayStrategy<NodeId> {
    return this.#overlay.topology
  }

  /** Changes the strategy or degree; edges stay as far as the new strategy has a use for them. False when nothing changed. */
  choose(kind: OverlayKind): boolean {
    const measured = Array.from(this.#members, ([nodeId, { rttsMs }]) => [nodeId, rttsMs] as const)
    const changed = this.#overlay.choose(kind, measured)
    if (changed === undefined) return false
    this.#instructions.mark(changed)
    this.#improvements.wake()
    return true
  }

  /** Its nodes, including those whose overlay is about to be taken over. */
  get size(): number {
    return this.#members.size
  }

  /** Whether some nodes wait for their overlay to be taken over. */
  get isAdopting(): boolean {
    return this.#adoption.isPending
  }

  /** Whether most of its nodes are in a known overlay: others that wait for theirs delay nothing. */
  get isKnown(): boolean {
    return !this.isAdopting || 2 * this.topology.size > this.size
  }

  /** Whether a node has no neighbours until the overlay is taken over, or none in that overlay. */
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

  /** It has neither members nor feeders. */
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

  /** Whether one of the two was last told that the other is its neighbour. */
  isToldEdge(a: NodeId, b: NodeId): boolean {
    return Boolean(this.#members.get(a)?.told.has(b) || this.#members.get(b)?.told.has(a))
  }

  /** Whether the two may have a link for this stream part, beside an edge that one was told of: as a feeder and its host, or one reports the other. */
  mayBeLinked(a: NodeId, b: NodeId): boolean {
    const isReported = (by: NodeId, id: NodeId) => this.#members.get(by)?.reports(id) ?? false
    return this.feeds.isToldEdge(a, b) || isReported(a, b) || isReported(b, a)
  }

  /**
   * The public round-trip time of an edge: each end measures independently, and each may be late, so it is the mean of both or
   * the only one; null before the first.
   */
  reportedRttMs(a: NodeId, b: NodeId): number | null {
    const reports = [this.#members.get(a)?.rttsMs.get(b), this.#members.get(b)?.rttsMs.get(a)]
    const known = reports.filter((rttMs) => rttMs !== undefined)
    return known.length === 0 ? null : known.reduce((sum, rttMs) => sum + rttMs, 0) / known.length
  }

  /** By what an edge goes, as its ends say; undefined where none does, or they disagree. */
  reportedTransport(a: NodeId, b: NodeId): ReportedTransport | undefined {
    const codes = [this.#members.get(a)?.transports.get(b), this.#members.get(b)?.transports.get(a)]
    const [one, other] = codes.flatMap((code) => transportOfCode(code ?? 0) ?? [])
    if (one === undefined || (other !== undefined && other.kind !== one.kind)) return undefined
    // An end may not know what the other one sends by.
    return { kind: one.kind, relayed: one.relayed || (other?.relayed ?? false) }
  }

  /** A status of a node; the first one joins. */
  status(nodeId: NodeId, status: Status, nowMs: number): void {
    const known = this.#members.get(nodeId)
    const member = known ?? new Member(this.id, nodeId, status.counter)
    member.membership = status.membership
    member.rttsMs = rttsOf(status, this.#members)
    member.transports = transportsOf(status, member.transports)
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
   * Sets the overlay as its last leader knew it. What nodes report takes precedence: an edge that its ends do not know is left
   * out. False when it comes too late.
   */
  expect(replica: Replica): boolean {
    return this.#adoption.expect(replica)
  }

  /** What each node would report now. */
  statuses(): { readonly nodeId: NodeId; readonly status: Status }[] {
    return [...this.#members.keys(), ...this.feeds.nodeIds].flatMap((nodeId) => {
      const status = this.statusOf(nodeId)
      return status === undefined ? [] : [{ nodeId, status }]
    })
  }

  /** What a node would report now; undefined for one that has not reported yet. */
  statusOf(nodeId: NodeId): Status | undefined {
    const member = this.#members.get(nodeId)
    if (member === undefined) return this.feeds.statusOf(nodeId)
    if (member.state === 'expected') return undefined
    return statusOf(member, this.#adoption.has(nodeId) ? this.#adoption.claimedBy(nodeId) : undefined)
  }

  /** Removes all nodes without telling them. Returns those that had reported. */
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

  /** Removes a node; unknown ones change nothing. */
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
    const changed = this.topology.remove(nodeId)
    this.#improvements.lost(changed)
    this.#instructions.mark(changed)
    this.#host.settle(member)
    this.#host.onRemoved(this, nodeId)
  }

  /** The node has connected again: what it was told may not have arrived. */
  reconnected(nodeId: NodeId): void {
    const member = this.#members.get(nodeId)
    if (member !== undefined) member.unsure = true
    this.feeds.tellAgain(nodeId)
  }

  /** Tells the node its neighbours again, even if they have not changed. */
  tellAgain(nodeId: NodeId): void {
    this.#instructions.tellAgain(nodeId)
    this.feeds.tellAgain(nodeId)
  }

  /** The node can be reached in another way than its neighbours were told. */
  contactChanged(nodeId: NodeId): void {
    for (const neighbour of this.topology.neighbours(nodeId)) this.#instructions.tellAgain(neighbour)
  }

  /**
   * Takes over the edges that both ends claim. All nodes are told, even those with the right neighbours: such a node may have
   * one without an instruction, which it would detach, or instructions for others, which it would keep dialling.
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

  /** Tells every node whose neighbours have changed since it was last told. True when there were any. */
  flush(): boolean {
    const feedersWereTold = this.feeds.flush()
    return this.#instructions.flush() || feedersWereTold
  }

  /** Sends the newest instruction again. */
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
