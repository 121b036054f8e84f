import type { NodeId } from '@runnel/protocol'
import { twoWayDegree, type Overlay } from './invariants/graph.ts'

interface Event {
  readonly atMs: number
  /** Nodes that it left short of neighbours and that still are. */
  readonly short: Set<NodeId>
}

/**
 * How long joins, leaves and failures leave nodes short of neighbours: for each event, until every node that it
 * concerned has had its degree, or has left. Other events meanwhile do not count.
 */
export class Recoveries {
  readonly #durationsMs: number[] = []
  #events: Event[] = []

  /** Something happened that concerns these nodes. */
  happened(atMs: number, concerned: Iterable<NodeId>): void {
    this.#events.push({ atMs, short: new Set(concerned) })
  }

  /** Checks the attached neighbours of all living nodes. */
  look(nowMs: number, overlay: Overlay, degree: number): void {
    const wanted = Math.min(degree, overlay.size - 1)
    this.#events = this.#events.filter(({ atMs, short }) => {
      for (const nodeId of short) if (twoWayDegree(overlay, nodeId, wanted) >= wanted) short.delete(nodeId)
      if (short.size === 0) this.#durationsMs.push(nowMs - atMs)
      return short.size > 0
    })
  }

  /** In milliseconds, one for each event; null for events that are not over. */
  get durationsMs(): readonly (number | null)[] {
    return [...this.#durationsMs, ...this.#events.map(() => null)]
  }
}
