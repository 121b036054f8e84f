import { parseStreamPartId, type NodeId, type StreamId, type StreamPartId } from '@runnel/protocol'
import { DelayQueue } from '../../core/timing/delay-queue.ts'
import type { ClusterLimits } from '../limits.ts'
import { leaderOf, trackerOrder } from './stream-order.ts'

export interface LeadershipModules {
  readonly self: NodeId
  /** Registered trackers, including this one when it is registered. */
  registered(): readonly NodeId[]
  /** The trackers a stream names; empty for the network's; undefined while that is being looked up. */
  ownTrackers(streamId: StreamId): readonly NodeId[] | undefined
}

/** Which trackers are linked, and which of them leads each stream part, as seen from here. */
export class Leadership {
  readonly #modules: LeadershipModules
  readonly #linked = new Set<NodeId>()
  /** Trackers that linked a moment ago. */
  readonly #settling: DelayQueue<NodeId>

  constructor(limits: Pick<ClusterLimits, 'handOverAfterMs'>, modules: LeadershipModules) {
    this.#modules = modules
    this.#settling = new DelayQueue(limits.handOverAfterMs)
  }

  /** When `settle` is due; Infinity when nothing is waited for. */
  get dueMs(): number {
    return this.#settling.nextAt ?? Infinity
  }

  linked(tracker: NodeId, nowMs: number): void {
    this.#linked.add(tracker)
    this.#settling.add(tracker, nowMs)
  }

  unlinked(tracker: NodeId): void {
    this.#linked.delete(tracker)
    this.#settling.delete(tracker)
  }

  isLinked(tracker: NodeId): boolean {
    return this.#linked.has(tracker)
  }

  /** Whether a tracker has been linked for long enough since the last time, so that leaders may change. */
  settle(nowMs: number): boolean {
    let settled = false
    while (this.#settling.takeDue(nowMs) !== undefined) settled = true
    return settled
  }

  /** The trackers responsible for a stream part, the preferred leader first. */
  order(id: StreamPartId): readonly NodeId[] {
    const own = this.#modules.ownTrackers(parseStreamPartId(id).streamId)
    return trackerOrder(id, this.#modules.registered(), own)
  }

  /** Returns who leads; `current` is the present leader, if one was chosen. */
  leader(id: StreamPartId, current?: NodeId): NodeId {
    const { self } = this.#modules
    // A tracker that is not registered has no others.
    if (!this.#modules.registered().includes(self)) return self
    return leaderOf(this.order(id), {
      ...{ self, current },
      isLinked: (tracker) => this.#linked.has(tracker),
      isSettled: (tracker) => this.#linked.has(tracker) && !this.#settling.has(tracker),
    })
  }
}
