import type { BoundedGraph } from './bounded-graph.ts'
import type { Proximity } from './proximity.ts'

/** Exchange the edges a–b and c–e for a–c and b–e. */
export interface Exchange<Id extends string> {
  readonly a: Id
  readonly b: Id
  readonly c: Id
  readonly e: Id
}

/** Differences between round-trip times well below this, in milliseconds, are ignored. */
const smallestMs = 4
/** How much the edge to a node's nearest neighbour counts besides what every edge counts. */
const nearestWeight = 0.5

/** Round-trip times of nodes' edges, and what an exchange makes of them. Of one attempt: the graph must not change meanwhile. */
export class EdgeLengths<Id extends string> {
  readonly #graph: BoundedGraph<Id>
  readonly #proximity: Pick<Proximity<Id>, 'distanceMs'>
  /** Milliseconds by the other end, of the nodes asked for; NaN where unknown. */
  readonly #edgesMs = new Map<Id, ReadonlyMap<Id, number>>()

  constructor(graph: BoundedGraph<Id>, proximity: Pick<Proximity<Id>, 'distanceMs'>) {
    this.#graph = graph
    this.#proximity = proximity
  }

  /**
   * How much shorter the new edges are, as a logarithm, and how much nearer the nearest neighbours of the four. NaN while one of
   * the times is unknown. O(degree).
   */
  gainOf({ a, b, c, e }: Exchange<Id>): number {
    const [ab, ce] = [this.#edgesOf(a).get(b) ?? NaN, this.#edgesOf(c).get(e) ?? NaN]
    const [ac, be] = [this.#betweenMs(a, c), this.#betweenMs(b, e)]
    const nearest =
      this.#nearestGain(a, b, ac) +
      this.#nearestGain(b, a, be) +
      this.#nearestGain(c, e, ac) +
      this.#nearestGain(e, c, be)
    return logRatio(ab, ac) + logRatio(ce, be) + nearestWeight * nearest
  }

  /**
   * How much shorter the last miles of the new edges are, as a logarithm, wherever their ends are. NaN where nothing is known of
   * one of the four. O(degree).
   */
  lastMileGainOf({ a, b, c, e }: Exchange<Id>): number {
    const [atA, atB, atC, atE] = [
      this.#nearestMs(a),
      this.#nearestMs(b),
      this.#nearestMs(c),
      this.#nearestMs(e),
    ]
    return logRatio(atA + atB, atA + atC) + logRatio(atC + atE, atB + atE)
  }

  /** By how much the nearest neighbour of `id` gets nearer when `lost` is exchanged for one at `gainedMs`. */
  #nearestGain(id: Id, lost: Id, gainedMs: number): number {
    const afterMs = Math.min(gainedMs, this.#nearestMs(id, lost))
    return logRatio(this.#nearestMs(id), afterMs)
  }

  /** The time to the nearest neighbour: at least the node's last mile, and not much more where one of its neighbours has a short one. */
  #nearestMs(id: Id, except?: Id): number {
    let nearestMs = Infinity
    for (const [end, ms] of this.#edgesOf(id)) if (end !== except && ms < nearestMs) nearestMs = ms
    return nearestMs
  }

  #edgesOf(id: Id): ReadonlyMap<Id, number> {
    const known = this.#edgesMs.get(id)
    if (known !== undefined) return known
    const edgesMs = new Map<Id, number>()
    for (const end of this.#graph.linksOf(id).keys()) edgesMs.set(end, this.#betweenMs(id, end))
    this.#edgesMs.set(id, edgesMs)
    return edgesMs
  }

  #betweenMs(a: Id, b: Id): number {
    return this.#proximity.distanceMs(a, b) ?? NaN
  }
}

function logRatio(beforeMs: number, afterMs: number): number {
  return Math.log((beforeMs + smallestMs) / (afterMs + smallestMs))
}
