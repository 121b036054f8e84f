import { parseStreamPartId, type NodeId, type StreamId, type StreamPartId } from '@runnel/protocol'
import { DelayQueue } from '../../core/timing/delay-queue.ts'
import type { ClusterLimits } from '../limits.ts'
import { leaderOf, trackerOrder } from './stream-order.ts'

export interface LeadershipModules {
  readonly self: NodeId
  /** Registered trackers, this one among them when it is. */
  registered(): readonly NodeId[]
  /** The trackers a stream names; empty for the network's; undefined while that is being found out. */
  ownTrackers(streamId: StreamId): readonly NodeId[] | undefined
}

/** Which trackers are linked, and who leads which stream part by that, as seen from here. */
export class Leadership {
  readonly #modules: LeadershipModules
  readonly #linked = new Set<NodeId>()
  /** Linked a moment ago. */
  readonly #settling: DelayQueue<NodeId>

  constructor(limits: Pick<ClusterLimits, 'handOverAfterMs'>, modules: LeadershipModules) {
    this.#modules = modules
    this.#settling = new DelayQueue(limits.handOverAfterMs)
  }

  /** When `settle` has something to do; Infinity when nothing is waited for. */
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

  /** Who is responsible for a stream part, the one that should lead first. */
  order(id: StreamPartId): readonly NodeId[] {
    const own = this.#modules.ownTrackers(parseStreamPartId(id).streamId)
    return trackerOrder(id, this.#modules.registered(), own)
  }

  /** Who leads; `current` is who has it at present, if somebody was chosen. */
  leader(id: StreamPartId, current?: NodeId): NodeId {
    const { self } = this.#modules
    // A tracker that is not registered has nobody to turn to.
    if (!this.#modules.registered().includes(self)) return self
    return leaderOf(this.order(id), {
      ...{ self, current },
      isLinked: (tracker) => this.#linked.has(tracker),
      isSettled: (tracker) => this.#linked.has(tracker) && !this.#settling.has(tracker),
    })
  }
}
