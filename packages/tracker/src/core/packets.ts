import {
  parseStreamPartId,
  sameContact,
  TokenBucket,
  type AskCount,
  type FindStorage,
  type Leave,
  type NodeInfo,
  type Signal,
  type Status,
  type StreamPartId,
} from '@runnel/protocol'
import type { CoreState } from './core-state.ts'
import type { NodeRecord } from './node-record.ts'
import type { PartFaults } from './part-faults.ts'
import type { PartTable } from './part-table.ts'
import type { Permissions } from './permissions.ts'
import type { StreamPart } from './stream-part.ts'
import type { NodeToTracker, TrackerEvent } from './tracker-events.ts'

/** Handles the packets of nodes. */
export class Packets {
  readonly #state: CoreState
  readonly #faults: PartFaults
  readonly #partTable: PartTable
  readonly #permissions: Permissions
  /** The stream part that is being built anew. */
  #rebuilt: StreamPartId | undefined

  constructor(state: CoreState, faults: PartFaults, partTable: PartTable, permissions: Permissions) {
    this.#state = state
    this.#faults = faults
    this.#partTable = partTable
    this.#permissions = permissions
  }

  packet({ from, packet, isPaid }: Extract<TrackerEvent, { type: 'packet' }>): void {
    const node = this.#state.nodes.get(from)
    if (node === undefined || !node.connected || node.refused) return
    if (node.parts.size === 0) this.#state.schedule.idle.add(node, this.#state.nowMs)
    if (isPaid !== true && !this.pays(node, packet)) return
    if (packet.type === 'signal') this.#signal(node, packet)
    else if (packet.type === 'findStorage') this.#findStorage(node, packet)
    else if (packet.type === 'askCount') this.#askCount(node, packet)
    else if (packet.type === 'nodeInfo') this.#nodeInfo(node, packet)
    else if (packet.type === 'status') this.status(node, packet)
    else if (packet.type === 'storing') this.#storing(node, packet.streamPartId, packet.storing)
    else if (packet.type === 'about') node.about = packet
    else this.#leave(node, packet)
  }

  /** False when the rate limit is exceeded; the node is told so, or disconnected. */
  pays(node: NodeRecord, packet: NodeToTracker): boolean {
    if (packet.type === 'signal') {
      if (node.signals.take(this.#state.nowMs)) return true
      this.#state.counters.count('signalsRefused')
      this.#state.outbox.unpaid(node, 'SIGNAL_RATE')
    } else if (packet.type === 'findStorage') {
      if (node.storageQuestions.take(this.#state.nowMs)) return true
      this.#state.counters.count('storageQuestionsRefused')
      this.#state.outbox.unpaid(node, 'STORAGE_RATE', packet.streamPartId)
    } else if (packet.type === 'askCount') {
      if (node.countQuestions.take(this.#state.nowMs)) return true
      this.#state.counters.count('countQuestionsRefused')
      this.#state.outbox.unpaid(node, 'COUNT_RATE', packet.streamPartId)
    } else {
      if (node.statuses.take(this.#state.nowMs)) return true
      this.#state.outbox.refuseFlood(node)
    }
    return false
  }

  #signal(node: NodeRecord, signal: Signal): void {
    const { signalling, openOffers, nowMs } = this.#state
    if (signal.peerId === node.nodeId) openOffers.handle(node, signal, nowMs)
    else signalling.relay(node, signal, nowMs)
  }

  #nodeInfo(node: NodeRecord, { contact }: NodeInfo): void {
    const before = node.contact
    this.#state.schedule.silent.delete(node)
    const isNews = before !== undefined && !sameContact(before, contact)
    if (isNews && !this.#paysForNews(node)) return this.#state.outbox.refuseFlood(node)
    node.contact = contact
    if (!isNews) return
    for (const part of node.parts) {
      this.#faults.within(part, () => {
        part.contactChanged(node.nodeId)
        this.#state.touched.add(part)
      })
    }
  }

  /** The neighbours of a node in every stream part have to be told, so it pays for each: beside its statuses, of which it may just have sent very many. */
  #paysForNews(node: NodeRecord): boolean {
    const { statusesPerSecond: perSecond, statusBurst: burst } = this.#state.limits
    node.contactNews ??= new TokenBucket({ perSecond, burst }, this.#state.nowMs)
    return node.contactNews.take(this.#state.nowMs, node.parts.size)
  }

  status(node: NodeRecord, status: Status): void {
    if (node.contact === undefined) return this.#state.outbox.refuse(node, 'NODE_INFO_MISSING')
    if (status.counter > this.#state.limits.maxCounter) {
      this.#state.counters.count('malformedStatuses')
      return this.#state.outbox.refuse(node, 'INVALID_STATUS', `counter ${status.counter}`)
    }
    const isStoring = this.#state.roles.keptIn(node.nodeId, status.streamPartId)?.storing === true
    if (!this.#permissions.mayTakePart(node, status)) return
    this.#join(node, status)
    if (isStoring) this.#storing(node, status.streamPartId, true)
  }

  #join(node: NodeRecord, status: Status): void {
    if (this.#state.resting.has(status.streamPartId)) return this.#faults.keepStatus(node, status)
    const isServed = this.#state.parts.has(status.streamPartId)
    const part = this.#partTable.partFor(node, status.streamPartId)
    if (part === undefined) return this.#keepForMissing(node, status)
    if (this.#state.resting.has(part.id)) return this.#faults.keepStatus(node, status)
    this.#state.counters.count('statuses')
    node.parts.add(part)
    this.#state.schedule.idle.delete(node)
    node.unconfirmed.delete(part)
    this.#faults.within(part, () => this.#report(part, node, status))
    // Its status may have caused the fault: the others are together again without it.
    if (this.#state.resting.nodesOf(part.id)?.delete(node.nodeId)) node.resting.delete(part.id)
    // Others that were there may have been put out as if there were no such stream.
    if (!isServed) this.#permissions.tryAgain(parseStreamPartId(part.id).streamId)
  }

  /** Until there is such a stream. */
  #keepForMissing(node: NodeRecord, status: Status): void {
    const { missing, roles, nowMs } = this.#state
    if (missing.has(parseStreamPartId(status.streamPartId).streamId, nowMs)) roles.keep(node, status)
  }

  #report(part: StreamPart, node: NodeRecord, status: Status): void {
    const { nodeId } = node
    const reads = status.membership?.reads ?? true
    let counter = status.counter
    if (reads ? part.feeds.has(nodeId) : part.members.has(nodeId)) {
      // An instruction may be in flight: later ones have to be newer.
      counter = Math.max(counter, part.counterOf(nodeId))
      part.remove(nodeId)
      node.parts.add(part)
    }
    this.#state.touched.add(part)
    if (!reads) return part.feeds.status(nodeId, { ...status, counter })
    part.status(nodeId, { ...status, counter }, this.#state.nowMs)
    if (!part.isAdopting) return
    if (part.isClaimComplete && part.id !== this.#rebuilt) return this.#partTable.adopt(part)
    if (!this.#state.schedule.adopt.has(part)) this.#state.schedule.adopt.add(part, this.#state.nowMs)
  }

  #leave(node: NodeRecord, { streamPartId }: Leave): void {
    this.#state.resting.nodesOf(streamPartId)?.delete(node.nodeId)
    this.#state.roles.drop(node.nodeId, streamPartId)
    node.resting.delete(streamPartId)
    const part = this.#state.parts.get(streamPartId)
    if (part === undefined || !node.parts.has(part)) return
    this.#state.counters.count('leaves')
    this.#faults.within(part, () => part.remove(node.nodeId))
  }

  #storing(node: NodeRecord, streamPartId: StreamPartId, storing: boolean): void {
    const waiting =
      this.#state.resting.nodesOf(streamPartId)?.get(node.nodeId) ??
      this.#state.roles.keptIn(node.nodeId, streamPartId)
    if (waiting !== undefined) {
      waiting.storing = storing
      return
    }
    if (!storing) return this.#state.storage.delete(node.nodeId, streamPartId)
    const part = this.#state.parts.get(streamPartId)
    if (part === undefined || !part.members.has(node.nodeId)) {
      this.#state.counters.count('storageOffersRefused')
      return this.#state.outbox.error(node, 'STORING_NOT_JOINED', streamPartId)
    }
    this.#state.counters.count('storageOffers')
    this.#state.storage.add(node.nodeId, streamPartId)
  }

  #findStorage(asker: NodeRecord, { requestId, streamPartId }: FindStorage): void {
    const { contact } = asker
    if (contact === undefined) return this.#state.outbox.refuse(asker, 'NODE_INFO_MISSING')
    this.#state.counters.count('storageQuestions')
    const nodes = this.#state.storage.introduce(
      { nodeId: asker.nodeId, contact },
      streamPartId,
      this.#state.nowMs,
    )
    const packet = { type: 'storageNodes', requestId, streamPartId, nodes } as const
    this.#state.outbox.send(asker.nodeId, packet)
  }

  /** Only who is in it is told: others would learn from outside who uses a stream, and when. */
  #askCount(asker: NodeRecord, { requestId, streamPartId }: AskCount): void {
    const part = this.#state.parts.get(streamPartId)
    if (part === undefined || !asker.parts.has(part)) {
      this.#state.counters.count('countQuestionsRefused')
      return this.#state.outbox.error(asker, 'COUNT_NOT_JOINED', streamPartId)
    }
    this.#state.counters.count('countQuestions')
    const { size: readers, feeds } = part
    this.#state.outbox.send(asker.nodeId, { type: 'count', requestId, readers, feeders: feeds.size })
  }

  /** Works as if all its nodes reported at once: none is told what a replica says before the others have denied it. */
  buildAnew(id: StreamPartId): void {
    this.#rebuilt = id
    for (const [nodeId, { status, storing }] of this.#faults.takeResting(id)) {
      const node = this.#state.nodes.get(nodeId)
      if (node?.contact === undefined) continue
      this.status(node, status)
      if (storing) this.#storing(node, id, true)
    }
    this.#rebuilt = undefined
    const part = this.#state.parts.get(id)
    if (part?.isAdopting && part.isClaimComplete) this.#faults.within(part, () => this.#partTable.adopt(part))
  }
}
