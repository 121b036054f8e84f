import type { BoundedGraph } from './bounded-graph.ts'
import type { Chooser } from './chooser.ts'
import { findSeparated } from './connectivity.ts'
import { EdgeLengths, type Exchange } from './edge-lengths.ts'
import type { GraphEdit } from './graph-edit.ts'
import { nearExchange } from './near-exchange.ts'
import type { Proximity } from './proximity.ts'
import { lacksRandom } from './random-edges.ts'
import { lastMileExchange, randomExchange, spreadExchange } from './random-exchange.ts'

/**
 * The result of an attempt. The best exchange is not made when it would disconnect the graph (`disconnecting`), or leave a node
 * with all its neighbours in one place other than its own (`stranding`).
 */
export type Improvement = 'improved' | 'nothing better' | 'disconnecting' | 'stranding'

/** An exchange, whether its new edges count as near, and whether it may leave nodes stranded, because a rule demands it. */
interface Choice<Id extends string> {
  readonly exchange: Exchange<Id>
  readonly near: boolean
  readonly demanded: boolean
}

/**
 * Gives `a` a nearer neighbour in place of a farther one, if a worthwhile one is found: cuts a–b and c–e, makes a–c and b–e.
 * All degrees stay, the graph stays connected, and each node keeps its `randomEdgesPerNode`. A node with fewer, in an overlay
 * that was taken over, gets a random edge first, and so does one with too many neighbours of one network. Where there is no
 * nearer neighbour, its random edge is exchanged for one with shorter last miles.
 *
 * The measure is the sum of the logarithms of the edges' times. Unlike their plain sum, it is lower when nodes with a short
 * last mile are linked to each other, which makes fast paths through the overlay. The edge to each node's nearest neighbour counts
 * half as much again, as seen from that node, so that those with a long last mile have a way to the fast paths, too. O(degree²) except for the
 * check that the graph is connected, which only an actual exchange needs.
 */
export function improveAt<Id extends string>(
  edit: GraphEdit<Id>,
  a: Id,
  proximity: Proximity<Id>,
  chooser: Chooser<Id>,
): Improvement {
  const { graph } = edit
  if (!proximity.mayChange(a)) return 'nothing better'
  const choice = choose(graph, a, proximity, chooser)
  if (choice === undefined) return 'nothing better'
  const { b, c, e } = choice.exchange
  const [wasNearAb, wasNearCe] = [isNear(graph, a, b), isNear(graph, c, e)]
  edit.disconnect(a, b)
  edit.disconnect(c, e)
  edit.connect(a, c, choice.near)
  edit.connect(b, e, choice.near)
  const outcome = faultOf(graph, [a, b, c, e], choice.demanded ? undefined : proximity)
  if (outcome === undefined) return 'improved'
  edit.disconnect(a, c)
  edit.disconnect(b, e)
  edit.connect(a, b, wasNearAb)
  edit.connect(c, e, wasNearCe)
  return outcome
}

function choose<Id extends string>(
  graph: BoundedGraph<Id>,
  a: Id,
  proximity: Proximity<Id>,
  chooser: Chooser<Id>,
): Choice<Id> | undefined {
  const spread = spreadExchange(graph, a, proximity, chooser)
  if (spread !== undefined || lacksRandom(graph, a)) {
    const exchange = spread ?? randomExchange(graph, a, proximity, chooser)
    return exchange && { exchange, near: false, demanded: true }
  }
  const lengths = new EdgeLengths(graph, proximity)
  const nearer = nearExchange(graph, a, proximity, lengths, chooser)
  if (nearer !== undefined) return { exchange: nearer, near: true, demanded: false }
  const faster = lastMileExchange(graph, a, proximity, lengths, chooser)
  return faster && { exchange: faster, near: false, demanded: false }
}

/** Why an exchange that was made must be undone; without a `proximity`, for a demanded one, only what is never allowed. */
function faultOf<Id extends string>(
  graph: BoundedGraph<Id>,
  changed: readonly Id[],
  proximity: Proximity<Id> | undefined,
): 'disconnecting' | 'stranding' | undefined {
  if (proximity !== undefined && changed.some((id) => isStranded(graph, id, proximity))) return 'stranding'
  return findSeparated(graph, changed) === undefined ? undefined : 'disconnecting'
}

/** Whether all neighbours are nearer to each other than to the node: if their place failed, the node would be cut off. */
function isStranded<Id extends string>(
  graph: BoundedGraph<Id>,
  id: Id,
  { distanceMs }: Proximity<Id>,
): boolean {
  const ends = [...graph.linksOf(id).keys()]
  const ownMs = Math.min(...ends.map((end) => distanceMs(id, end) ?? Infinity))
  return ends.every((x, i) => ends.slice(i + 1).every((y) => (distanceMs(x, y) ?? Infinity) < ownMs))
}

function isNear<Id extends string>(graph: BoundedGraph<Id>, a: Id, b: Id): boolean {
  return graph.linksOf(a).get(b)?.near ?? false
}
