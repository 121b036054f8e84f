import {
  canConnect,
  keyPartition,
  parseStreamPartId,
  Shares,
  sameContact,
  toStreamPartId,
  type Contact,
  type FindStorage,
  type Leave,
  type NodeId,
  type NodeInfo,
  type OverlayChoice,
  type OverlayStrategyName,
  type Random,
  type Status,
  type Storing,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'
import type { TrackerErrorCode } from '../errors.ts'
import type { TrackerLimits } from '../limits.ts'
import { Counters } from './counters.ts'
import { Improver } from './improver.ts'
import type { Member } from './member.ts'
import { MissingStreams } from './missing-streams.ts'
import { NodeRecord } from './node-record.ts'
import { Outbox } from './outbox.ts'
import type { OverlayKind } from './overlay.ts'
import { PartPlaces } from './part-places.ts'
import type { Replica } from './replica.ts'
import { Roles, userOf, type KeptStatus, type RegistryAnswers } from './roles.ts'
import { RestingParts, type RestingNode } from './resting-parts.ts'
import { Signalling } from './signalling.ts'
import { StorageDirectory } from './storage-directory.ts'
import { StreamPart, type StreamPartTracker } from './stream-part.ts'
import { DelayQueue } from './timing/delay-queue.ts'
import { ExpiringPairs } from './timing/expiring-pairs.ts'
import type { NodeToTracker, TrackerEffect, TrackerEvent, TrackerFault } from './tracker-events.ts'

export type * from './tracker-events.ts'

/** The network of all nodes whose address nobody knows: together they have the share of one. */
const unknownNetwork = ''

export interface TrackerCoreOptions {
  /** Neighbours per node, 2 to 64. */
  readonly degree: number
  readonly limits: TrackerLimits
  /** What each stream part's overlay is made of; default `random` for all. */
  readonly overlay?: OverlayStrategyName | ((id: StreamPartId) => OverlayStrategyName)
}

/**
 * All a tracker decides: who is in which overlay, who is told what, whose signals pass. Events and the time in
 * (milliseconds that never go back), effects out.
 *
 * Read `StreamPart` next: it has one overlay each. Here are the nodes, their limits, who stores what, and what
 * falls due.
 */
export class TrackerCore {
  readonly counters = new Counters()
  /** Hears of every stream part in which something may have changed, once an event. */
  onTouched: (id: StreamPartId) => void = () => {}
  /** Hears of every stream part in which there was nobody before. */
  onNewStreamPart: (id: StreamPartId) => void = () => {}
  /** Hears of every fault, which has ended some work and nothing else. Without somebody who hears of it, it is thrown. */
  onFault: (fault: TrackerFault) => void = ({ error }) => {
    throw error
  }
  readonly #outbox = new Outbox({ counters: this.counters })
  readonly #options: TrackerCoreOptions
  readonly #random: Random
  readonly #host: StreamPartTracker
  readonly #nodes = new Map<NodeId, NodeRecord>()
  /** By the networks they come from. */
  readonly #places: Shares<NodeRecord>
  readonly #parts = new Map<StreamPartId, StreamPart>()
  readonly #partPlaces: PartPlaces
  readonly #missing: MissingStreams
  /** Stream parts something has happened to during the present event. */
  readonly #touched = new Set<StreamPart>()
  /** Stream parts whose nodes were instructed a moment ago: the next instructions wait. */
  readonly #quiet: DelayQueue<StreamPart>
  readonly #adoptions: DelayQueue<StreamPart>
  /** Those in whose overlay somebody is alone until it is taken over. */
  readonly #lodgings: DelayQueue<StreamPart>
  /** Nodes that have not said yet how they are reached. */
  readonly #silent: DelayQueue<NodeRecord>
  /** Nodes that were in no stream part when they were last heard of. */
  readonly #idle: DelayQueue<NodeRecord>
  readonly #disconnected: DelayQueue<NodeRecord>
  readonly #confirmations: DelayQueue<NodeRecord>
  readonly #unanswered: DelayQueue<Member>
  readonly #avoided: ExpiringPairs<NodeId>
  readonly #signalling: Signalling
  readonly #roles: Roles
  /** When the first permission of somebody here ends. */
  #permitsEndAt = Infinity
  readonly #storage: StorageDirectory
  readonly #improver: Improver
  readonly #resting: RestingParts
  /** Whose work is being done. */
  #current: StreamPart | undefined
  /** For the stream part that comes next. */
  #replica: { readonly id: StreamPartId; readonly replica: Replica } | undefined
  #now = 0

  constructor(
    options: TrackerCoreOptions,
    modules: {
      readonly random: Random
      /** Without it nodes are taken at their word. */
      readonly registry?: RegistryAnswers | undefined
    },
  ) {
    const { limits } = options
    this.#options = options
    this.#random = modules.random
    this.#quiet = new DelayQueue(limits.quietWindowMs)
    this.#adoptions = new DelayQueue(limits.adoptionPatienceMs)
    this.#lodgings = new DelayQueue(limits.adoptionWindowMs)
    this.#places = new Shares({ max: limits.maxNodes, evict: 'newest' })
    this.#partPlaces = new PartPlaces(limits, {
      networkOf: (id) => this.#nodes.get(id)?.network ?? unknownNetwork,
    })
    this.#missing = new MissingStreams(limits)
    this.#roles = new Roles(limits, modules.registry)
    this.#silent = new DelayQueue(limits.nodeInfoWindowMs)
    this.#idle = new DelayQueue(limits.idleNodeMs)
    this.#disconnected = new DelayQueue(limits.disconnectGraceMs)
    this.#confirmations = new DelayQueue(limits.confirmWindowMs)
    this.#unanswered = new DelayQueue(limits.resendAfterMs)
    this.#avoided = new ExpiringPairs({ lifetimeMs: limits.avoidPairMs, maxPairs: limits.maxAvoidedPairs })
    this.#storage = new StorageDirectory(limits, {
      random: modules.random.fork('storage'),
      contactOf: (id) => this.#nodes.get(id)?.contact,
      count: (name) => this.counters.count(name),
    })
    this.#signalling = new Signalling(limits, {
      nodes: this.#nodes,
      storage: this.#storage,
      outbox: this.#outbox,
      counters: this.counters,
    })
    this.#improver = new Improver(limits)
    this.#resting = new RestingParts(limits)
    this.#host = this.#createHost(limits)
  }

  get nodes(): ReadonlyMap<NodeId, NodeRecord> {
    return this.#nodes
  }

  get streamParts(): ReadonlyMap<StreamPartId, StreamPart> {
    return this.#parts
  }

  /** Who says it stores a stream part. */
  get storage(): Pick<StorageDirectory, 'count' | 'nodes'> {
    return this.#storage
  }

  /** When a tick is due; undefined when nothing is waited for. */
  get wakeAt(): number | undefined {
    const adoptions = [this.#adoptions, this.#lodgings]
    const nodes = [this.#silent, this.#idle, this.#disconnected, this.#confirmations]
    const queues = [this.#quiet, ...adoptions, ...nodes, this.#unanswered]
    const times = [this.#improver.wakeAt, this.#resting.wakeAt].filter((at) => at !== undefined)
    let wakeAt = times.length === 0 ? undefined : Math.min(...times)
    for (const { nextAt } of queues)
      if (nextAt !== undefined && !(nextAt > (wakeAt ?? Infinity))) wakeAt = nextAt
    return this.#permitsEndAt < (wakeAt ?? Infinity) ? this.#permitsEndAt : wakeAt
  }

  handle(event: TrackerEvent, now: number): TrackerEffect[] {
    this.#now = now
    const effects = this.#outbox.begin(now)
    try {
      this.#dealWith(event)
    } catch (error) {
      this.#eventFailed(event, error)
    }
    this.#settleTouched()
    return effects
  }

  #dealWith(event: TrackerEvent): void {
    if (event.type === 'nodeConnected') this.#connected(event.nodeId, event.network)
    else if (event.type === 'nodeDisconnected') this.#disconnect(event.nodeId)
    else if (event.type === 'nodeExpelled') this.#expel(event.nodeId)
    else if (event.type === 'packet') this.#packet(event)
    else if (event.type === 'handOver') this.#handOver(event.streamPartId, event.leaderId)
    else if (event.type === 'replica') this.#expect(event.streamPartId, event.replica)
    else if (event.type === 'overlay') this.#choose(event.streamId, event.overlay)
    else if (event.type === 'streamMissing') this.#streamMissing(event.streamId)
    else if (event.type === 'streamsChanged') this.#missing.forget(event.streamId)
    else if (event.type === 'userResolved') this.#userResolved(event.streamId, event.userId, event.found)
    else if (event.type === 'permissionsChanged') this.#permissionsChanged(event.streamId)
    else if (event.type === 'stalled') this.#forgetAll()
    else if (event.type === 'partFault') this.#partFault(event.streamPartId, event.error)
    else this.#tick()
  }

  /**
   * Has a node pay for a packet before anything is done about it, be it that another tracker leads what it is about. What comes of
   * it when that is one too many; undefined when it is not, and the packet may be dealt with as one that `isPaid`.
   */
  charge(from: NodeId, packet: NodeToTracker, now: number): TrackerEffect[] | undefined {
    this.#now = now
    const effects = this.#outbox.begin(now)
    const node = this.#nodes.get(from)
    if (node === undefined || !node.connected || node.refused) return effects
    return this.#pays(node, packet) ? undefined : effects
  }

  #expect(id: StreamPartId, replica: Replica): void {
    const part = this.#parts.get(id)
    if (part === undefined) {
      this.#replica = { id, replica }
    } else {
      this.#within(part, () => {
        if (!part.expect(replica)) this.counters.count('replicasIgnored')
        else if (part.isAdopting && part.isClaimComplete) this.#adopt(part)
      })
    }
  }

  #handOver(id: StreamPartId, leaderId: NodeId): void {
    const part = this.#parts.get(id)
    const members = part && this.#within(part, () => part.dissolve())
    const nodeIds = [...(members ?? []).map(({ nodeId }) => nodeId), ...this.#takeResting(id).keys()]
    this.#roles.dropPart(id)
    this.counters.count('handedOver', nodeIds.length)
    for (const nodeId of nodeIds) this.#outbox.send(nodeId, { type: 'redirect', streamPartId: id, leaderId })
  }

  /**
   * Does some work of a stream part. What it throws ends the stream part, which rests and is then built anew; within other
   * work of the same it ends that as well.
   */
  #within<T>(part: StreamPart, work: () => T): T | undefined {
    if (part === this.#current) return work()
    const outer = this.#current
    this.#current = part
    try {
      return work()
    } catch (error) {
      this.#failed(part, error)
      return undefined
    } finally {
      this.#current = outer
    }
  }

  /** Nothing of the stream part is used again but what its nodes would report; they notice nothing of it. */
  #failed(part: StreamPart, error: unknown): void {
    const { id } = part
    this.counters.count('streamPartFaults')
    const nodes = this.#lastSaid(part)
    this.#parts.delete(id)
    this.#partPlaces.delete(part)
    this.#touched.delete(part)
    this.#improver.delete(part)
    for (const queue of [this.#quiet, this.#lodgings, this.#adoptions]) queue.delete(part)
    for (const member of part.members.values()) this.#unanswered.delete(member)
    for (const nodeId of [...this.#storage.nodes(id)]) this.#storage.delete(nodeId, id)
    for (const node of this.#nodes.values()) {
      node.parts.delete(part)
      node.unconfirmed.delete(part)
      if (nodes.has(node.nodeId)) node.resting.add(id)
    }
    this.#resting.add(id, nodes, this.#now)
    this.onFault({ streamPartId: id, error })
  }

  #lastSaid(part: StreamPart): Map<NodeId, RestingNode> {
    const stores = new Set(this.#storage.nodes(part.id))
    const nodes = new Map<NodeId, RestingNode>()
    try {
      for (const { nodeId, status } of part.statuses()) {
        // An instruction may be under way: those to come have to be newer.
        const counter = Math.max(status.counter, part.members.get(nodeId)?.counter ?? 0)
        nodes.set(nodeId, { status: { ...status, counter }, storing: stores.has(nodeId) })
      }
    } catch {
      // They connect again, and report by themselves.
      for (const nodeId of part.members.keys()) this.#refuseForFault(nodeId)
    }
    return nodes
  }

  #partFault(id: StreamPartId, error: unknown): void {
    const part = this.#parts.get(id)
    if (part !== undefined) return this.#failed(part, error)
    this.counters.count('streamPartFaults')
    this.onFault({ streamPartId: id, error })
  }

  /** What belongs to no stream part ends the connection of the node that the event is about. */
  #eventFailed(event: TrackerEvent, error: unknown): void {
    const nodeId = event.type === 'packet' ? event.from : 'nodeId' in event ? event.nodeId : undefined
    this.counters.count(nodeId === undefined ? 'otherFaults' : 'connectionFaults')
    if (nodeId !== undefined) this.#refuseForFault(nodeId)
    this.onFault({ ...(nodeId !== undefined && { nodeId }), error })
  }

  #refuseForFault(nodeId: NodeId): void {
    const node = this.#nodes.get(nodeId)
    if (node !== undefined) this.#outbox.refuse(node, 'TRACKER_FAULT')
  }

  #takeResting(id: StreamPartId): ReadonlyMap<NodeId, RestingNode> {
    const nodes = this.#resting.take(id) ?? new Map<NodeId, RestingNode>()
    for (const nodeId of nodes.keys()) this.#nodes.get(nodeId)?.resting.delete(id)
    return nodes
  }

  /** As if all its nodes reported at once. */
  #buildAnew(id: StreamPartId): void {
    for (const [nodeId, { status, storing }] of this.#takeResting(id)) {
      const node = this.#nodes.get(nodeId)
      if (node?.contact === undefined) continue
      this.#status(node, status)
      if (storing) this.#storing(node, { type: 'storing', streamPartId: id, storing })
    }
  }

  #connected(nodeId: NodeId, network: string | undefined): void {
    const node = this.#nodes.get(nodeId)
    if (node === undefined) return this.#newNode(nodeId, network)
    this.#storage.forget(nodeId)
    node.connected = true
    node.refused = false
    this.#disconnected.delete(node)
    this.#confirmations.add(node, this.#now)
    this.#watch(node)
    for (const part of node.parts) {
      node.unconfirmed.add(part)
      this.#within(part, () => part.reconnected(nodeId))
    }
    this.#moved(nodeId, network)
  }

  #newNode(nodeId: NodeId, network: string | undefined): void {
    const node = new NodeRecord(nodeId, this.#options.limits, this.#now)
    node.network = network
    this.#nodes.set(nodeId, node)
    this.#watch(node)
    this.#place(node)
  }

  /** Who says nothing of itself, or is here for nothing, is let go. */
  #watch(node: NodeRecord): void {
    if (node.contact === undefined) this.#silent.add(node, this.#now)
    if (node.parts.size === 0) this.#idle.add(node, this.#now)
  }

  /** A node that is known comes from another network than before. */
  #moved(nodeId: NodeId, network: string | undefined): void {
    const node = this.#nodes.get(nodeId)
    if (node === undefined || node.network === network) return
    node.network = network
    this.#places.delete(node)
    this.#place(node)
  }

  /** Where the table is full somebody of the network with the most nodes goes: the one that came last. */
  #place(newcomer: NodeRecord): void {
    for (const node of this.#places.add(newcomer, newcomer.network ?? unknownNetwork)) {
      this.counters.count(node === newcomer ? 'nodesRefused' : 'nodesEvicted')
      this.#outbox.refuse(node, 'TOO_MANY_NODES')
      this.#takeOut(node)
    }
  }

  /** Counts as a node that was connected once, and has a while to report the stream part. */
  #expectNode(part: StreamPart, nodeId: NodeId, contact: Contact): boolean {
    let node = this.#nodes.get(nodeId)
    if (node === undefined) {
      if (this.#nodes.size >= this.#options.limits.maxNodes) return false
      node = new NodeRecord(nodeId, this.#options.limits, this.#now)
      node.connected = false
      this.#nodes.set(nodeId, node)
      this.#places.add(node, unknownNetwork)
    }
    node.contact ??= contact
    node.parts.add(part)
    node.unconfirmed.add(part)
    this.#confirmations.add(node, this.#now)
    return true
  }

  #disconnect(nodeId: NodeId): void {
    const node = this.#nodes.get(nodeId)
    if (node === undefined) return
    this.#storage.forget(nodeId)
    node.connected = false
    this.#silent.delete(node)
    this.#idle.delete(node)
    this.#confirmations.delete(node)
    this.#disconnected.add(node, this.#now)
  }

  #expel(nodeId: NodeId): void {
    const node = this.#nodes.get(nodeId)
    if (node === undefined) return
    this.counters.count('nodesExpelled')
    this.#takeOut(node)
  }

  #takeOut(node: NodeRecord): void {
    for (const part of node.parts) this.#within(part, () => part.remove(node.nodeId))
    this.#forget(node)
  }

  /** Of a node that is in no stream part any more. */
  #forget(node: NodeRecord): void {
    this.#storage.forget(node.nodeId)
    this.#resting.forget(node.nodeId)
    this.#nodes.delete(node.nodeId)
    this.#places.delete(node)
    for (const queue of [this.#silent, this.#idle, this.#disconnected, this.#confirmations])
      queue.delete(node)
  }

  #forgetAll(): void {
    this.counters.count('stalls')
    for (const part of [...this.#parts.values()]) this.#within(part, () => part.dissolve())
    this.#resting.clear()
    for (const node of [...this.#nodes.values()]) this.#forget(node)
    this.#replica = undefined
  }

  #packet({ from, packet, isPaid }: Extract<TrackerEvent, { type: 'packet' }>): void {
    const node = this.#nodes.get(from)
    if (node === undefined || !node.connected || node.refused) return
    if (node.parts.size === 0) this.#idle.add(node, this.#now)
    if (isPaid !== true && !this.#pays(node, packet)) return
    if (packet.type === 'signal') this.#signalling.relay(node, packet, this.#now)
    else if (packet.type === 'findStorage') this.#findStorage(node, packet)
    else if (packet.type === 'nodeInfo') this.#nodeInfo(node, packet)
    else if (packet.type === 'status') this.#status(node, packet)
    else if (packet.type === 'storing') this.#storing(node, packet)
    else this.#leave(node, packet)
  }

  /** False when it is one too many, which the node is told, or let go for. */
  #pays(node: NodeRecord, packet: NodeToTracker): boolean {
    if (packet.type === 'signal') {
      if (node.signals.take(this.#now)) return true
      this.counters.count('signalsRefused')
      this.#outbox.error(node, 'SIGNAL_RATE')
    } else if (packet.type === 'findStorage') {
      if (node.storageQuestions.take(this.#now)) return true
      this.counters.count('storageQuestionsRefused')
      this.#outbox.error(node, 'STORAGE_RATE', packet.streamPartId)
    } else {
      if (node.statuses.take(this.#now)) return true
      this.#outbox.refuseFlood(node)
    }
    return false
  }

  #nodeInfo(node: NodeRecord, { contact }: NodeInfo): void {
    const before = node.contact
    node.contact = contact
    this.#silent.delete(node)
    if (before === undefined || sameContact(before, contact)) return
    // Its neighbours in every stream part have to be told, which it pays for.
    if (!node.statuses.take(this.#now, node.parts.size)) return this.#outbox.refuseFlood(node)
    for (const part of node.parts) {
      this.#within(part, () => {
        part.contactChanged(node.nodeId)
        this.#touched.add(part)
      })
    }
  }

  #status(node: NodeRecord, status: Status): void {
    if (node.contact === undefined) return this.#outbox.refuse(node, 'NODE_INFO_MISSING')
    if (status.counter > this.#options.limits.maxCounter) {
      this.counters.count('malformedStatuses')
      return this.#outbox.refuse(node, 'INVALID_STATUS', `counter ${status.counter}`)
    }
    if (!this.#mayTakePart(node, status)) return
    if (this.#resting.has(status.streamPartId)) return this.#keepStatus(node, status)
    const part = this.#partFor(node, status.streamPartId)
    if (part === undefined) return
    if (this.#resting.has(part.id)) return this.#keepStatus(node, status)
    this.counters.count('statuses')
    node.parts.add(part)
    this.#idle.delete(node)
    node.unconfirmed.delete(part)
    this.#within(part, () => this.#report(part, node, status))
    // It may be what the fault comes of: the others are together again without it.
    if (this.#resting.nodesOf(part.id)?.delete(node.nodeId)) node.resting.delete(part.id)
  }

  #report(part: StreamPart, node: NodeRecord, status: Status): void {
    const { nodeId } = node
    const reads = status.membership?.reads ?? true
    let counter = status.counter
    if (reads ? part.feeds.has(nodeId) : part.members.has(nodeId)) {
      // An instruction may be under way: those to come have to be newer.
      counter = Math.max(counter, part.counterOf(nodeId))
      part.remove(nodeId)
      node.parts.add(part)
    }
    this.#touched.add(part)
    if (!reads) return part.feeds.status(nodeId, { ...status, counter })
    part.status(nodeId, { ...status, counter }, this.#now)
    if (!part.isAdopting) return
    if (part.isClaimComplete) return this.#adopt(part)
    if (!this.#adoptions.has(part)) this.#adoptions.add(part, this.#now)
  }

  /** Whether the node may be in the stream part as what it says it is. Who is there already is until the registry says no. */
  #mayTakePart(node: NodeRecord, status: Status): boolean {
    const { streamPartId, membership } = status
    const { streamId } = parseStreamPartId(streamPartId)
    this.#roles.identify(node, status)
    const role = this.#roles.roleOf(node, streamId, membership?.reads ?? true, this.#now)
    const part = this.#parts.get(streamPartId)
    if (role.kind === 'none') {
      this.#roles.keep(node, status)
      // Its registry may be ahead of ours: until then it feeds on.
      const feedsOn = part?.feeds.has(node.nodeId) && this.#roles.roleOf(node, streamId, false, this.#now)
      if (!feedsOn || feedsOn.kind === 'none') this.#deny(node, streamPartId)
      return false
    }
    if (role.kind === 'unknown') {
      this.#outbox.resolve(streamId, node)
      const isThere =
        membership?.reads === false ? part?.feeds.has(node.nodeId) : part?.members.has(node.nodeId)
      if (isThere) return true
      this.#roles.keep(node, status)
      return false
    }
    this.#roles.drop(node.nodeId, streamPartId)
    this.#permitsEndAt = Math.min(this.#permitsEndAt, role.untilMs)
    return true
  }

  #deny(node: NodeRecord, id: StreamPartId): void {
    this.counters.count('membersDenied')
    const part = this.#parts.get(id)
    if (part !== undefined && node.parts.has(part)) this.#within(part, () => part.remove(node.nodeId))
    this.#outbox.error(node, 'NOT_PERMITTED', id)
  }

  /** The registry was asked about a user. What it could not say is asked again. */
  #userResolved(streamId: StreamId, userId: NodeId, found: boolean): void {
    if (found) {
      this.#tryAgain(this.#roles.kept(streamId, userId))
      for (const part of this.#partsOf(streamId)) this.#within(part, () => this.#checkMembers(part, userId))
      return
    }
    this.#permitsEndAt = Math.min(this.#permitsEndAt, this.#now + this.#options.limits.registryRetryMs)
    for (const { node, status } of this.#roles.kept(streamId, userId))
      if (this.#isPresent(node)) this.#outbox.error(node, 'REGISTRY_SILENT', status.streamPartId)
  }

  /** Has those take part who may now. */
  #tryAgain(kept: readonly KeptStatus[]): void {
    for (const { node, status } of kept) {
      const { streamPartId, membership } = status
      if (!this.#isPresent(node)) {
        this.#roles.drop(node.nodeId, streamPartId)
        continue
      }
      const { streamId } = parseStreamPartId(streamPartId)
      const role = this.#roles.roleOf(node, streamId, membership?.reads ?? true, this.#now)
      if (role.kind === 'unknown') this.#outbox.resolve(streamId, node)
      else if (role.kind !== 'none') this.#status(node, status)
    }
  }

  #isPresent(node: NodeRecord): boolean {
    return this.#nodes.get(node.nodeId) === node && node.connected && !node.refused
  }

  #permissionsChanged(streamId: StreamId | undefined): void {
    const parts = streamId === undefined ? [...this.#parts.values()] : this.#partsOf(streamId)
    for (const part of parts) this.#within(part, () => this.#checkMembers(part))
    for (const id of streamId === undefined ? [...this.#roles.streamIds] : [streamId])
      this.#tryAgain(this.#roles.kept(id))
  }

  /** Takes out who may not be there any longer. Of whom nothing is known stays until the registry answers. */
  #checkMembers(part: StreamPart, onlyUserId?: NodeId): void {
    const { streamId } = parseStreamPartId(part.id)
    for (const [ids, reads] of [
      [part.members.keys(), true],
      [part.feeds.nodeIds, false],
    ] as const) {
      for (const nodeId of [...ids]) {
        const node = this.#nodes.get(nodeId)
        if (node?.member === undefined || userOf(node) !== (onlyUserId ?? userOf(node))) continue
        const role = this.#roles.roleOf(node, streamId, reads, this.#now)
        if (role.kind === 'none') this.#deny(node, part.id)
        else if (role.kind === 'unknown') this.#outbox.resolve(streamId, node)
        else this.#permitsEndAt = Math.min(this.#permitsEndAt, role.untilMs)
      }
    }
  }

  /** Until the stream part is built anew. */
  #keepStatus(node: NodeRecord, status: Status): void {
    const { streamPartId: id } = status
    const nodes = this.#resting.nodesOf(id)
    const known = nodes?.get(node.nodeId)
    if (known !== undefined) known.status = status
    else if (node.parts.size + node.resting.size >= this.#options.limits.maxStreamPartsPerNode) {
      this.counters.count('streamPartsRefused')
      this.#outbox.error(node, 'TOO_MANY_STREAM_PARTS', id)
    } else {
      nodes?.set(node.nodeId, { status, storing: false })
      node.resting.add(id)
    }
  }

  /** The stream part, made if there is none yet; undefined when it is one too many, which the node is told. */
  #partFor(node: NodeRecord, id: StreamPartId): StreamPart | undefined {
    const known = this.#parts.get(id)
    if (known !== undefined && node.parts.has(known)) return known
    if (node.parts.size >= this.#options.limits.maxStreamPartsPerNode) return this.#refusePart(node, id)
    if (known !== undefined) return known
    if (this.#missing.has(parseStreamPartId(id).streamId, this.#now)) {
      this.counters.count('streamsMissing')
      this.#outbox.error(node, 'STREAM_UNKNOWN', id)
      return undefined
    }
    const part = new StreamPart(id, this.#kindOf(id), { random: this.#random.fork(id), host: this.#host })
    const evicted = this.#partPlaces.add(part, node.network ?? unknownNetwork)
    if (evicted === part) return this.#refusePart(node, id)
    if (evicted !== undefined) {
      this.counters.count('streamPartsEvicted')
      this.#dissolve(evicted, 'TOO_MANY_STREAM_PARTS')
    }
    this.#parts.set(id, part)
    const expected = this.#replica?.id === id ? this.#replica.replica : undefined
    this.#replica = undefined
    if (expected !== undefined) this.#within(part, () => part.expect(expected))
    this.#improver.plan(part, this.#now)
    this.onNewStreamPart(id)
    return part
  }

  #refusePart(node: NodeRecord, id: StreamPartId): undefined {
    this.counters.count('streamPartsRefused')
    this.#outbox.error(node, 'TOO_MANY_STREAM_PARTS', id)
  }

  /** Its nodes are told why; their links stay. */
  #dissolve(part: StreamPart, code: TrackerErrorCode): void {
    const nodes = this.#within(part, () => part.dissolve()) ?? []
    for (const { nodeId } of nodes) this.#outbox.tell(nodeId, code, part.id)
  }

  /** What the stream's owner chose, as far as the limit allows it, or else what is usual here. */
  #kindOf(id: StreamPartId, choice: OverlayChoice = {}): OverlayKind {
    const { degree, limits, overlay = 'random' } = this.#options
    const usual = typeof overlay === 'string' ? overlay : overlay(id)
    return {
      strategy: choice.strategy ?? usual,
      degree: choice.degree === undefined ? degree : Math.min(choice.degree, limits.maxChosenDegree),
    }
  }

  #choose(streamId: StreamId, choice: OverlayChoice | undefined): void {
    for (const part of this.#partsOf(streamId)) {
      this.#within(part, () => {
        if (!part.choose(this.#kindOf(part.id, choice))) return
        this.#improver.plan(part, this.#now)
        this.#touched.add(part)
      })
    }
  }

  #streamMissing(streamId: StreamId): void {
    this.#missing.add(streamId, this.#now)
    for (const part of this.#partsOf(streamId)) {
      this.counters.count('streamsMissing')
      this.#dissolve(part, 'STREAM_UNKNOWN')
    }
  }

  *#partsOf(streamId: StreamId): Generator<StreamPart> {
    for (let partition = 0; partition <= keyPartition; partition++) {
      const part = this.#parts.get(toStreamPartId(streamId, partition))
      if (part !== undefined) yield part
    }
  }

  #leave(node: NodeRecord, { streamPartId }: Leave): void {
    this.#resting.nodesOf(streamPartId)?.delete(node.nodeId)
    this.#roles.drop(node.nodeId, streamPartId)
    node.resting.delete(streamPartId)
    const part = this.#parts.get(streamPartId)
    if (part === undefined || !node.parts.has(part)) return
    this.counters.count('leaves')
    this.#within(part, () => part.remove(node.nodeId))
  }

  #storing(node: NodeRecord, { streamPartId, storing }: Storing): void {
    const resting = this.#resting.nodesOf(streamPartId)?.get(node.nodeId)
    if (resting !== undefined) {
      resting.storing = storing
      return
    }
    if (!storing) return this.#storage.delete(node.nodeId, streamPartId)
    const part = this.#parts.get(streamPartId)
    if (part === undefined || !part.members.has(node.nodeId)) {
      this.counters.count('storageOffersRefused')
      return this.#outbox.error(node, 'STORING_NOT_JOINED', streamPartId)
    }
    this.counters.count('storageOffers')
    this.#storage.add(node.nodeId, streamPartId)
  }

  #findStorage(asker: NodeRecord, { requestId, streamPartId }: FindStorage): void {
    const { contact } = asker
    if (contact === undefined) return this.#outbox.refuse(asker, 'NODE_INFO_MISSING')
    this.counters.count('storageQuestions')
    const nodes = this.#storage.introduce({ nodeId: asker.nodeId, contact }, streamPartId, this.#now)
    const packet = { type: 'storageNodes', requestId, streamPartId, nodes } as const
    this.#outbox.send(asker.nodeId, packet)
  }

  #tick(): void {
    if (this.#permitsEndAt <= this.#now) {
      this.#permitsEndAt = Infinity
      this.#permissionsChanged(undefined)
    }
    for (const id of this.#resting.due(this.#now)) this.#buildAnew(id)
    for (const part of due(this.#lodgings, this.#now)) this.#within(part, () => this.#lodge(part))
    for (const part of due(this.#adoptions, this.#now)) this.#within(part, () => this.#adopt(part))
    for (const part of due(this.#quiet, this.#now)) this.#touched.add(part)
    for (const node of due(this.#silent, this.#now)) {
      this.counters.count('nodesWithoutInfo')
      this.#outbox.refuse(node, 'NODE_INFO_MISSING')
    }
    for (const node of due(this.#idle, this.#now)) this.#letGoIdle(node)
    for (const node of due(this.#disconnected, this.#now)) {
      this.counters.count('disconnected', node.parts.size)
      this.#takeOut(node)
    }
    for (const node of due(this.#confirmations, this.#now)) {
      this.counters.count('unconfirmed', node.unconfirmed.size)
      for (const part of node.unconfirmed) this.#within(part, () => part.remove(node.nodeId))
      if (!node.connected && !this.#disconnected.has(node)) this.#forget(node)
    }
    for (const member of due(this.#unanswered, this.#now)) this.#resend(member)
    this.#improver.improve(this.#now, (part, improve) => {
      this.#within(part, () => {
        improve()
        this.#touched.add(part)
      })
    })
  }

  #letGoIdle(node: NodeRecord): void {
    if (node.parts.size + node.resting.size > 0) return
    this.counters.count('nodesIdle')
    this.#outbox.refuse(node, 'NODE_IDLE')
  }

  #resend(member: Member): void {
    const part = this.#parts.get(member.streamPartId)
    if (part === undefined || !this.#nodes.get(member.nodeId)?.connected) return
    if (member.resends >= this.#options.limits.maxResends) return this.counters.count('resendsGivenUp')
    member.resends++
    this.counters.count('instructionsResent')
    this.#within(part, () => part.resend(member))
  }

  #lodge(part: StreamPart): void {
    if (!part.isLodgingDue) return
    if (!part.lodge()) return this.#adopt(part)
    this.#touched.add(part)
  }

  #adopt(part: StreamPart): void {
    this.#lodgings.delete(part)
    this.#adoptions.delete(part)
    part.adopt()
    this.#touched.add(part)
  }

  /** Sends what the event has brought about, where nothing was sent a moment ago. */
  #settleTouched(): void {
    for (const part of this.#touched) this.#within(part, () => this.#settle(part))
    this.#touched.clear()
  }

  #settle(part: StreamPart): void {
    this.onTouched(part.id)
    if (part.isEmpty) {
      this.#parts.delete(part.id)
      this.#partPlaces.delete(part)
      this.#improver.delete(part)
      this.#quiet.delete(part)
      this.#lodgings.delete(part)
      this.#adoptions.delete(part)
      return
    }
    if (part.isLodgingDue && !this.#lodgings.has(part)) this.#lodgings.add(part, this.#now)
    if (part.hasChanges && !this.#quiet.has(part) && part.flush()) this.#quiet.add(part, this.#now)
  }

  #createHost(limits: TrackerLimits): StreamPartTracker {
    const contactOf = (id: NodeId) => this.#nodes.get(id)?.contact
    return {
      limits,
      contactOf,
      networkOf: (id) => this.#nodes.get(id)?.network,
      publishes: (part, id) => {
        const node = this.#nodes.get(id)
        return node !== undefined && this.#roles.publishes(node, parseStreamPartId(part).streamId)
      },
      isConnected: (id) => this.#nodes.get(id)?.connected ?? false,
      avoids: (a, b) => {
        const [contactA, contactB] = [contactOf(a), contactOf(b)]
        if (contactA === undefined || contactB === undefined) return false
        return !canConnect(contactA, contactB) || this.#avoided.has(a, b, this.#now)
      },
      avoid: (a, b) => {
        if (this.#avoided.add(a, b, this.#now)) this.counters.count('avoidedPairsDropped')
      },
      permitSignals: (a, b) => this.#signalling.permit(a, b, this.#now),
      send: (id, packet) => {
        this.counters.count('instructions')
        this.#outbox.send(id, packet)
      },
      instruct: (member, packet) => {
        this.counters.count('instructions')
        this.#unanswered.add(member, this.#now)
        this.#outbox.send(member.nodeId, packet)
      },
      settle: (member) => {
        this.#unanswered.delete(member)
      },
      expect: (part, id, contact) => this.#expectNode(part, id, contact),
      onRemoved: (part, id) => {
        const node = this.#nodes.get(id)
        node?.parts.delete(part)
        node?.unconfirmed.delete(part)
        if (node?.connected && node.parts.size === 0) this.#idle.add(node, this.#now)
        this.#storage.delete(id, part.id)
        this.#touched.add(part)
      },
      count: (name, by) => this.counters.count(name, by),
    }
  }
}

function* due<Key>(queue: DelayQueue<Key>, now: number): Generator<Key> {
  for (let key = queue.takeDue(now); key !== undefined; key = queue.takeDue(now)) yield key
}
