import type { BoundedGraph } from './bounded-graph.ts'
import { randomPosition } from './cheapest.ts'
import type { Chooser } from './chooser.ts'
import type { EdgeLengths, Exchange } from './edge-lengths.ts'
import type { Proximity } from './proximity.ts'
import { randomEdges, randomEdgesPerNode } from './random-edges.ts'
import { randomArc } from './rewiring.ts'

/** Candidates for a neighbour in one attempt: this many drawn from all nodes, and as many from the neighbours' neighbours. */
const candidatesOfEachKind = 4
/**
 * An exchange has to shorten the round-trip times of two edges by the factor e^0.4 ≈ 1.5 in total, or by less where nearest
 * neighbours get nearer, or it is not worth two new links.
 */
const worthwhileGain = 0.4

/** The exchange that gives `a` a nearer neighbour for the largest gain, of a few that are drawn. */
export function nearExchange<Id extends string>(
  graph: BoundedGraph<Id>,
  a: Id,
  proximity: Proximity<Id>,
  lengths: EdgeLengths<Id>,
  { random, reluctance }: Chooser<Id>,
): Exchange<Id> | undefined {
  const spareOfA = spareEnds(graph, a, proximity)
  if (spareOfA.length === 0) return undefined
  let best: Exchange<Id> | undefined
  let bestGain = worthwhileGain
  for (const c of candidatesFor(graph, a, random)) {
    if (!graph.connectable(a, c) || !proximity.mayChange(c) || reluctance(a, c) > 0) continue
    for (const e of spareEnds(graph, c, proximity)) {
      for (const b of spareOfA) {
        if (!graph.connectable(b, e) || reluctance(b, e) > 0) continue
        const gain = lengths.gainOf({ a, b, c, e })
        if (!(gain > bestGain)) continue
        best = { a, b, c, e }
        bestGain = gain
      }
    }
  }
  return best
}

/** Other ends of the edges of `id` that may be cut: those chosen for nearness, and random ones beyond the minimum. */
function spareEnds<Id extends string>(
  graph: BoundedGraph<Id>,
  id: Id,
  { mayChange }: Proximity<Id>,
): readonly Id[] {
  const kept = randomEdgesPerNode(graph.size, graph.degree)
  const hasSpare = (node: Id) => randomEdges(graph, node) > kept
  const idHasSpare = hasSpare(id)
  const ends: Id[] = []
  for (const [end, { near }] of graph.linksOf(id))
    if ((near || (idHasSpare && hasSpare(end))) && mayChange(end)) ends.push(end)
  return ends
}

function* candidatesFor<Id extends string>(
  graph: BoundedGraph<Id>,
  a: Id,
  random: Chooser<Id>['random'],
): Generator<Id> {
  for (let i = 0; i < candidatesOfEachKind; i++) {
    yield randomArc(graph, random)[0]
    const neighbour = randomNeighbour(graph, a, random)
    const next = neighbour === undefined ? undefined : randomNeighbour(graph, neighbour, random)
    if (next !== undefined) yield next
  }
}

function randomNeighbour<Id extends string>(
  graph: BoundedGraph<Id>,
  id: Id,
  random: Chooser<Id>['random'],
): Id | undefined {
  const neighbours = [...graph.linksOf(id).keys()]
  return neighbours[randomPosition(neighbours.length, random)]
}
