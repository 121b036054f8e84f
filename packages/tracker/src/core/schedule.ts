import type { TrackerLimits } from '../limits.ts'
import type { Member } from './member.ts'
import type { NodeRecord } from './node-record.ts'
import type { StreamPart } from './stream-part.ts'
import { DelayQueue } from './timing/delay-queue.ts'

/** The timers, by purpose. */
export class Schedule {
  /** Stream parts whose nodes were instructed a moment ago: further instructions wait. */
  readonly quiet: DelayQueue<StreamPart>
  /** Stream parts whose overlay is taken over at that time, whoever has reported by then. */
  readonly adopt: DelayQueue<StreamPart>
  /** Stream parts in which a node has no neighbours until the overlay is taken over. */
  readonly temporaryEdges: DelayQueue<StreamPart>
  /** Nodes that have not sent a node info yet. */
  readonly silent: DelayQueue<NodeRecord>
  /** Nodes that were in no stream part when they last sent something. */
  readonly idle: DelayQueue<NodeRecord>
  /** Nodes whose connection is closed. */
  readonly disconnected: DelayQueue<NodeRecord>
  /** Nodes that have to report their stream parts again. */
  readonly confirm: DelayQueue<NodeRecord>
  /** Nodes with an open offer. */
  readonly openOffers: DelayQueue<NodeRecord>
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
    this.openOffers = new DelayQueue(limits.openOfferMs)
    this.resend = new DelayQueue(limits.resendAfterMs)
  }

  /** When the first timer is due; Infinity when there is none. NaN is passed on, because it is a fault. */
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
    return [this.silent, this.idle, this.disconnected, this.confirm, this.openOffers]
  }
}

/** Yields everything that is due. */
export function* due<Key>(queue: DelayQueue<Key>, nowMs: number): Generator<Key> {
  for (let key = queue.takeDue(nowMs); key !== undefined; key = queue.takeDue(nowMs)) yield key
}
