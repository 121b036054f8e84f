import {
  keyPartition,
  parseStreamPartId,
  toStreamPartId,
  type NodeId,
  type OverlayChoice,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'
import type { TrackerErrorCode } from '../errors.ts'
import { unknownNetwork, type CoreState } from './core-state.ts'
import type { Member } from './member.ts'
import type { NodeRecord } from './node-record.ts'
import type { OverlayKind } from './overlay.ts'
import type { PartFaults } from './part-faults.ts'
import type { Replica } from './replica.ts'
import { StreamPart, type StreamPartTracker } from './stream-part.ts'

/** The stream parts: which are made and given up, and when their nodes are told. */
export class PartTable {
  readonly #state: CoreState
  readonly #faults: PartFaults
  readonly #host: StreamPartTracker

  constructor(state: CoreState, faults: PartFaults, host: StreamPartTracker) {
    this.#state = state
    this.#faults = faults
    this.#host = host
  }

  expect(id: StreamPartId, replica: Replica): void {
    const part = this.#state.parts.get(id)
    if (part === undefined) return
    this.#faults.within(part, () => {
      if (!part.expect(replica)) this.#state.counters.count('replicasIgnored')
      else if (part.isAdopting && part.isClaimComplete) this.adopt(part)
    })
  }

  handOver(id: StreamPartId, leaderId: NodeId): void {
    const part = this.#state.parts.get(id)
    const members = part && this.#faults.within(part, () => part.dissolve())
    const [resting, waiting] = [this.#faults.takeResting(id).keys(), this.#state.roles.dropPart(id)]
    const nodeIds = new Set([...(members ?? []), ...resting, ...waiting])
    this.#state.counters.count('handedOver', nodeIds.size)
    for (const nodeId of nodeIds)
      this.#state.outbox.send(nodeId, { type: 'redirect', streamPartId: id, leaderId })
  }

  /** The stream part, made if there is none yet; undefined above the limit, which the node is told. */
  partFor(node: NodeRecord, id: StreamPartId): StreamPart | undefined {
    const known = this.#state.parts.get(id)
    if (known !== undefined && node.parts.has(known)) return known
    if (node.parts.size >= this.#state.limits.maxStreamPartsPerNode) return this.#refusePart(node, id)
    if (known !== undefined) return known
    if (this.#state.missing.has(parseStreamPartId(id).streamId, this.#state.nowMs)) {
      this.#state.counters.count('streamsMissing')
      this.#state.outbox.error(node, 'STREAM_UNKNOWN', id)
      return undefined
    }
    const part = new StreamPart(id, this.#kindOf(id), {
      random: this.#state.random.fork(id),
      host: this.#host,
    })
    const evicted = this.#state.partPlaces.add(part, node.network ?? unknownNetwork)
    if (evicted === part) return this.#refusePart(node, id)
    if (evicted !== undefined) {
      this.#state.counters.count('streamPartsEvicted')
      this.#dissolve(evicted, 'TOO_MANY_STREAM_PARTS')
    }
    this.#state.parts.set(id, part)
    this.#faults.within(part, () => {
      const replica = this.#state.listeners.replicaOf(id)
      if (replica !== undefined) part.expect(replica)
    })
    this.#state.improver.plan(part, this.#state.nowMs)
    this.#state.listeners.onNewStreamPart(id)
    return part
  }

  #refusePart(node: NodeRecord, id: StreamPartId): undefined {
    this.#state.counters.count('streamPartsRefused')
    this.#state.outbox.error(node, 'TOO_MANY_STREAM_PARTS', id)
  }

  /** Gives it up. Its nodes are told why; their links stay. */
  #dissolve(part: StreamPart, code: TrackerErrorCode): void {
    const nodeIds = this.#faults.within(part, () => part.dissolve()) ?? []
    for (const nodeId of nodeIds) this.#state.outbox.tell(nodeId, code, part.id)
  }

  /** What the stream's owner chose, as far as the limit allows, or else the tracker's default. */
  #kindOf(id: StreamPartId, choice: OverlayChoice = {}): OverlayKind {
    const { degree, limits, overlay = 'random' } = this.#state.options
    const usual = typeof overlay === 'string' ? overlay : overlay(id)
    return {
      strategy: choice.strategy ?? usual,
      degree: choice.degree === undefined ? degree : Math.min(choice.degree, limits.maxChosenDegree),
    }
  }

  choose(streamId: StreamId, choice: OverlayChoice | undefined): void {
    for (const part of this.partsOf(streamId)) {
      this.#faults.within(part, () => {
        if (!part.choose(this.#kindOf(part.id, choice))) return
        this.#state.improver.plan(part, this.#state.nowMs)
        this.#state.touched.add(part)
      })
    }
  }

  streamMissing(streamId: StreamId): void {
    this.#state.missing.add(streamId, this.#state.nowMs)
    for (const part of this.partsOf(streamId)) {
      this.#state.counters.count('streamsMissing')
      for (const id of [...part.members.keys(), ...part.feeds.nodeIds])
        this.keepStatus(part, this.#state.nodes.get(id))
      this.#dissolve(part, 'STREAM_UNKNOWN')
    }
  }

  /**
   * Keeps what a node would report, as it is about to be put out, until it may be there again: a chain that takes a block back has the same in
   * the next one, and nodes that have nothing new to report do not report.
   */
  keepStatus(part: StreamPart, node: NodeRecord | undefined): void {
    const status = node && part.statusOf(node.nodeId)
    if (node === undefined || status === undefined) return
    const counter = Math.max(status.counter, part.counterOf(node.nodeId))
    this.#state.roles.keep(node, { ...status, counter })
  }

  *partsOf(streamId: StreamId): Generator<StreamPart> {
    for (let partition = 0; partition <= keyPartition; partition++) {
      const part = this.#state.parts.get(toStreamPartId(streamId, partition))
      if (part !== undefined) yield part
    }
  }

  resend(member: Member): void {
    const part = this.#state.parts.get(member.streamPartId)
    if (part === undefined || !this.#state.nodes.get(member.nodeId)?.connected) return
    if (member.resends >= this.#state.limits.maxResends) return this.#state.counters.count('resendsGivenUp')
    member.resends++
    this.#state.counters.count('instructionsResent')
    this.#faults.within(part, () => part.resend(member))
  }

  addTemporaryEdges(part: StreamPart): void {
    if (!part.needsTemporaryEdges) return
    if (!part.addTemporaryEdges()) return this.adopt(part)
    this.#state.touched.add(part)
  }

  adopt(part: StreamPart): void {
    this.#state.schedule.temporaryEdges.delete(part)
    this.#state.schedule.adopt.delete(part)
    part.adopt()
    this.#state.touched.add(part)
  }

  /** Sends what the event has changed, for stream parts that were not sent anything a moment ago. */
  settleTouched(): void {
    for (const part of this.#state.touched) this.#faults.within(part, () => this.settle(part))
    this.#state.touched.clear()
  }

  settle(part: StreamPart): void {
    this.#state.listeners.onTouched(part.id)
    if (part.isEmpty) {
      this.#state.parts.delete(part.id)
      this.#state.partPlaces.delete(part)
      this.#state.improver.delete(part)
      this.#state.schedule.forgetPart(part)
      return
    }
    if (part.needsTemporaryEdges && !this.#state.schedule.temporaryEdges.has(part))
      this.#state.schedule.temporaryEdges.add(part, this.#state.nowMs)
    if (part.hasChanges && !this.#state.schedule.quiet.has(part) && part.flush())
      this.#state.schedule.quiet.add(part, this.#state.nowMs)
  }
}
