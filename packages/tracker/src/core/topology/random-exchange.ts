import type { BoundedGraph } from './bounded-graph.ts'
import { randomPosition } from './cheapest.ts'
import type { Chooser } from './chooser.ts'
import type { EdgeLengths, Exchange } from './edge-lengths.ts'
import type { Proximity } from './proximity.ts'
import { lacksRandom } from './random-edges.ts'
import { drawnArc, randomArc } from './rewiring.ts'

/** Edges drawn in one attempt to give a node a random edge it lacks. */
const randomTries = 16
/** Candidates of one attempt to exchange random edges for the last miles of their ends. */
const lastMileTries = 8
/** As a logarithm: such an exchange has to shorten the last miles of two edges by the factor e^0.2 ≈ 1.2 in total. */
const worthwhileGain = 0.2

/**
 * Exchanges a near edge for a random one. No node has fewer random edges afterwards, whatever c–e is; others that lack one are
 * preferred, so that few edges suffice.
 */
export function randomExchange<Id extends string>(
  graph: BoundedGraph<Id>,
  a: Id,
  proximity: Proximity<Id>,
  chooser: Chooser<Id>,
): Exchange<Id> | undefined {
  const { random } = chooser
  const nearEnds = [...graph.linksOf(a)].filter(([end, { near }]) => near && proximity.mayChange(end))
  const ends = nearEnds.map(([end]) => end)
  const lacking = ends.filter((end) => lacksRandom(graph, end))
  const from = lacking.length > 0 ? lacking : ends
  const b = from[randomPosition(from.length, random)]
  if (b === undefined) return undefined
  for (let i = 0; i < randomTries; i++) {
    const [c, e] = randomArc(graph, random)
    if (i < randomTries / 2 && !(lacksRandom(graph, c) && lacksRandom(graph, e))) continue
    if (isPossible(graph, { a, b, c, e }, proximity, chooser)) return { a, b, c, e }
  }
  return undefined
}

/**
 * Exchanges random edges so that nodes with short last miles have theirs to each other: they become the far edges of the fast
 * paths. How far apart the nodes are does not count, so the edges stay random in that.
 */
export function lastMileExchange<Id extends string>(
  graph: BoundedGraph<Id>,
  a: Id,
  proximity: Proximity<Id>,
  lengths: EdgeLengths<Id>,
  chooser: Chooser<Id>,
): Exchange<Id> | undefined {
  const { random } = chooser
  const { mayChange, distanceMs } = proximity
  const b = drawnRandomEnd(graph, a, random)
  if (b === undefined || !mayChange(b)) return undefined
  let best: Exchange<Id> | undefined
  let bestGain = worthwhileGain
  for (let i = 0; i < lastMileTries; i++) {
    const [c] = randomArc(graph, random)
    const e = drawnRandomEnd(graph, c, random)
    if (e === undefined || !isPossible(graph, { a, b, c, e }, proximity, chooser)) continue
    // Unknown, or infinite after a failure.
    if (!((distanceMs(a, c) ?? NaN) + (distanceMs(b, e) ?? NaN) < Infinity)) continue
    const gain = lengths.lastMileGainOf({ a, b, c, e })
    if (!(gain > bestGain)) continue
    best = { a, b, c, e }
    bestGain = gain
  }
  return best
}

/** The other end of one of a node's random edges. */
function drawnRandomEnd<Id extends string>(
  graph: BoundedGraph<Id>,
  id: Id,
  random: Chooser<Id>['random'],
): Id | undefined {
  const ends: Id[] = []
  for (const [end, { near }] of graph.linksOf(id)) if (!near) ends.push(end)
  return ends[randomPosition(ends.length, random)]
}

/** Exchanges an edge to a node of a network of which `a` has too many neighbours for a random one. */
export function spreadExchange<Id extends string>(
  graph: BoundedGraph<Id>,
  a: Id,
  proximity: Proximity<Id>,
  chooser: Chooser<Id>,
): Exchange<Id> | undefined {
  const b = chooser.diversity?.oneTooMany(a)
  if (b === undefined || !proximity.mayChange(b)) return undefined
  for (let i = 0; i < randomTries; i++) {
    const arc = drawnArc(graph, chooser)
    if (arc === undefined) continue
    const [c, e] = arc
    if (isPossible(graph, { a, b, c, e }, proximity, chooser)) return { a, b, c, e }
  }
  return undefined
}

/** Whether c and e may change, and neither new edge is impossible or avoided. */
function isPossible<Id extends string>(
  graph: BoundedGraph<Id>,
  { a, b, c, e }: Exchange<Id>,
  { mayChange }: Proximity<Id>,
  { reluctance }: Chooser<Id>,
): boolean {
  if (!mayChange(c) || !mayChange(e) || !graph.connectable(a, c) || !graph.connectable(b, e)) return false
  return reluctance(a, c) === 0 && reluctance(b, e) === 0
}
