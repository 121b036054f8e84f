import type { BoundedGraph } from './bounded-graph.ts'
import { randomPosition } from './cheapest.ts'
import type { Chooser } from './chooser.ts'
import { findSeparated } from './connectivity.ts'
import type { GraphEdit } from './graph-edit.ts'
import { drawnArc } from './rewiring.ts'

/** What an overlay that considers distances uses. */
export interface Proximity<Id extends string> {
  /** The expected round-trip time between the two, in milliseconds; undefined when it is unknown. Symmetric. */
  distanceMs(a: Id, b: Id): number | undefined
  /** Whether the node may be given other neighbours now. */
  mayChange(id: Id): boolean
}

/**
 * The result of an attempt. The best exchange is not made when it would disconnect the graph (`disconnecting`), or leave a node
 * with all its neighbours in one place other than its own (`stranding`).
 */
export type Improvement = 'improved' | 'nothing better' | 'disconnecting' | 'stranding'

/** Exchange the edges a–b and c–e for a–c and b–e. */
interface Exchange<Id extends string> {
  readonly a: Id
  readonly b: Id
  readonly c: Id
  readonly e: Id
}

/**
 * Up to this many nodes half of the edges stay random: groups of nearby nodes are small, few near edges hold them together, and
 * one far edge each would be too few for direct paths to all other groups. In larger ones the second far edge costs more than it brings.
 */
const smallOverlay = 100
/** Candidates for a neighbour in one attempt: this many drawn from all nodes, and as many from the neighbours' neighbours. */
const candidatesOfEachKind = 4
/** Differences between round-trip times well below this, in milliseconds, are ignored. */
const smallestMs = 4
/**
 * An exchange has to shorten the round-trip times of two edges by the factor e^0.4 ≈ 1.5 in total, or it is not worth two
 * new links.
 */
const worthwhileGain = 0.4

/** Edges drawn in one attempt to give a node a random edge it lacks. */
const randomTries = 16

/** Random edges of one node that are not exchanged for near ones in an overlay of `size` nodes. */
export function randomEdgesPerNode(size: number, degree: number): number {
  return size <= smallOverlay ? Math.max(1, Math.round(degree / 2)) : leastRandomEdges(degree)
}

/** Random edges added to nodes that have fewer. An overlay that shrinks has enough of these, and need not change. */
function leastRandomEdges(degree: number): number {
  return Math.max(1, Math.round(degree / 4))
}

/**
 * Gives `a` a nearer neighbour in place of a farther one, if a worthwhile one is found: cuts a–b and c–e, makes a–c and b–e.
 * All degrees stay, the graph stays connected, and each node keeps its `randomEdgesPerNode`. A node with fewer, in an overlay
 * that was taken over, gets a random edge first, and so does one with too many neighbours of one network.
 *
 * The measure is the sum of the logarithms of the edges' times. Unlike their plain sum, it is lower when nodes with a short
 * last mile are linked to each other, which makes fast paths through the overlay. O(degree²) except for the check that the
 * graph is connected, which only an actual exchange needs.
 */
export function improveAt<Id extends string>(
  edit: GraphEdit<Id>,
  a: Id,
  proximity: Proximity<Id>,
  chooser: Chooser<Id>,
): Improvement {
  const { graph } = edit
  if (!proximity.mayChange(a)) return 'nothing better'
  const spread = spreadExchange(graph, a, proximity, chooser)
  const drawsRandom = spread !== undefined || lacksRandom(graph, a)
  const choose = drawsRandom ? randomExchange : bestExchange
  const exchange = spread ?? choose(graph, a, proximity, chooser)
  if (exchange === undefined) return 'nothing better'
  const { b, c, e } = exchange
  const [wasNearAb, wasNearCe] = [isNear(graph, a, b), isNear(graph, c, e)]
  edit.disconnect(a, b)
  edit.disconnect(c, e)
  edit.connect(a, c, !drawsRandom)
  edit.connect(b, e, !drawsRandom)
  const outcome = faultOf(graph, [a, b, c, e], drawsRandom ? undefined : proximity)
  if (outcome === undefined) return 'improved'
  edit.disconnect(a, c)
  edit.disconnect(b, e)
  edit.connect(a, b, wasNearAb)
  edit.connect(c, e, wasNearCe)
  return outcome
}

/** Why an exchange that was made must be undone; without a `proximity`, for a random one, only what is never allowed. */
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

function bestExchange<Id extends string>(
  graph: BoundedGraph<Id>,
  a: Id,
  proximity: Proximity<Id>,
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
        const gain = gainOf({ a, b, c, e }, proximity)
        if (!(gain > bestGain)) continue
        best = { a, b, c, e }
        bestGain = gain
      }
    }
  }
  return best
}

/**
 * Exchanges a near edge for a random one. No node has fewer random edges afterwards, whatever c–e is; others that lack one are
 * preferred, so that few edges suffice.
 */
function randomExchange<Id extends string>(
  graph: BoundedGraph<Id>,
  a: Id,
  { mayChange }: Proximity<Id>,
  { random, reluctance }: Chooser<Id>,
): Exchange<Id> | undefined {
  const nearEnds = [...graph.linksOf(a)].filter(([end, { near }]) => near && mayChange(end))
  const ends = nearEnds.map(([end]) => end)
  const lacking = ends.filter((end) => lacksRandom(graph, end))
  const from = lacking.length > 0 ? lacking : ends
  const b = from[randomPosition(from.length, random)]
  if (b === undefined) return undefined
  for (let i = 0; i < randomTries; i++) {
    const edge = graph.edges.at(randomPosition(graph.edges.size, random))
    const [c, e] = random.next() < 0.5 ? [edge.a, edge.b] : [edge.b, edge.a]
    if (i < randomTries / 2 && !(lacksRandom(graph, c) && lacksRandom(graph, e))) continue
    if (!mayChange(c) || !mayChange(e) || !graph.connectable(a, c) || !graph.connectable(b, e)) continue
    if (reluctance(a, c) === 0 && reluctance(b, e) === 0) return { a, b, c, e }
  }
  return undefined
}

/** Exchanges an edge to a node of a network of which `a` has too many neighbours for a random one. */
function spreadExchange<Id extends string>(
  graph: BoundedGraph<Id>,
  a: Id,
  { mayChange }: Proximity<Id>,
  chooser: Chooser<Id>,
): Exchange<Id> | undefined {
  const b = chooser.diversity?.oneTooMany(a)
  if (b === undefined || !mayChange(b)) return undefined
  for (let i = 0; i < randomTries; i++) {
    const arc = drawnArc(graph, chooser)
    if (arc === undefined) continue
    const [c, e] = arc
    if (!mayChange(c) || !mayChange(e) || !graph.connectable(a, c) || !graph.connectable(b, e)) continue
    if (chooser.reluctance(a, c) === 0 && chooser.reluctance(b, e) === 0) return { a, b, c, e }
  }
  return undefined
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

function lacksRandom<Id extends string>(graph: BoundedGraph<Id>, id: Id): boolean {
  return randomEdges(graph, id) < leastRandomEdges(graph.degree)
}

function randomEdges<Id extends string>(graph: BoundedGraph<Id>, id: Id): number {
  let count = 0
  for (const { near } of graph.linksOf(id).values()) if (!near) count++
  return count
}

function* candidatesFor<Id extends string>(
  graph: BoundedGraph<Id>,
  a: Id,
  random: Chooser<Id>['random'],
): Generator<Id> {
  for (let i = 0; i < candidatesOfEachKind; i++) {
    // All have the same degree, so the end of a random edge is a random node.
    const edge = graph.edges.at(randomPosition(graph.edges.size, random))
    yield random.next() < 0.5 ? edge.a : edge.b
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

/** How much shorter the new edges are, as a logarithm; −Infinity while one of the times is unknown. */
function gainOf<Id extends string>({ a, b, c, e }: Exchange<Id>, { distanceMs }: Proximity<Id>): number {
  const [ab, ce, ac, be] = [distanceMs(a, b), distanceMs(c, e), distanceMs(a, c), distanceMs(b, e)]
  if (ab === undefined || ce === undefined || ac === undefined || be === undefined) return -Infinity
  return Math.log(((ab + smallestMs) * (ce + smallestMs)) / ((ac + smallestMs) * (be + smallestMs)))
}

function isNear<Id extends string>(graph: BoundedGraph<Id>, a: Id, b: Id): boolean {
  return graph.linksOf(a).get(b)?.near ?? false
}
