import type { TrackerLimits } from '../limits.ts'
import type { Member } from './member.ts'
import type { NodeRecord } from './node-record.ts'
import type { StreamPart } from './stream-part.ts'
import { DelayQueue } from './timing/delay-queue.ts'

/** What falls due, by what it is for. */
export class Schedule {
  /** Stream parts whose nodes were instructed a moment ago: the next instructions wait. */
  readonly quiet: DelayQueue<StreamPart>
  /** Stream parts whose overlay is taken over, whoever has reported by then. */
  readonly adopt: DelayQueue<StreamPart>
  /** Stream parts in which somebody is alone until the overlay is taken over. */
  readonly temporaryEdges: DelayQueue<StreamPart>
  /** Nodes that have not said yet how they are reached. */
  readonly silent: DelayQueue<NodeRecord>
  /** Nodes that were in no stream part when they were last heard of. */
  readonly idle: DelayQueue<NodeRecord>
  /** Nodes whose connection is gone. */
  readonly disconnected: DelayQueue<NodeRecord>
  /** Nodes that are to report their stream parts again. */
  readonly confirm: DelayQueue<NodeRecord>
  /** Instructions that no status has answered. */
  readonly resend: DelayQueue<Member>

  constructor(limits: TrackerLimits) {
    this.quiet = new DelayQueue(limits.quietWindowMs)
    this.adopt = new DelayQueue(limits.adoptionPatienceMs)
    this.temporaryEdges = new DelayQueue(limits.adoptionWindowMs)
    this.silent = new DelayQueue(limits.nodeInfoWindowMs)
    this.idle = new DelayQueue(limits.idleNodeMs)
    this.disconnected = new DelayQueue(limits.disconnectGraceMs)
    this.confirm = new DelayQueue(limits.confirmWindowMs)
    this.resend = new DelayQueue(limits.resendAfterMs)
  }

  /** When the first of it is due; Infinity when nothing is. A time that is no number comes through: it is a fault. */
  get dueMs(): number {
    let dueMs = Infinity
    for (const { nextAt } of [...this.#ofParts, ...this.#ofNodes, this.resend])
      if (nextAt !== undefined && !(nextAt > dueMs)) dueMs = nextAt
    return dueMs
  }

  forgetPart(part: StreamPart): void {
    for (const queue of this.#ofParts) queue.delete(part)
  }

  forgetNode(node: NodeRecord): void {
    for (const queue of this.#ofNodes) queue.delete(node)
  }

  get #ofParts() {
    return [this.quiet, this.adopt, this.temporaryEdges]
  }

  get #ofNodes() {
    return [this.silent, this.idle, this.disconnected, this.confirm]
  }
}

/** Takes out all that is due, one after the other. */
export function* due<Key>(queue: DelayQueue<Key>, nowMs: number): Generator<Key> {
  for (let key = queue.takeDue(nowMs); key !== undefined; key = queue.takeDue(nowMs)) yield key
}
