import type { BoundedGraph } from './bounded-graph.ts'
import { cheapest, cheapestDrawn, randomPosition, type Choice, type RandomSource } from './cheapest.ts'
import type { Chooser } from './chooser.ts'

/** An edge read in one of its two directions. */
export type Arc<Id extends string> = readonly [Id, Id]

/** A way to use up two free slots: edges to cut and edges to make instead. */
export interface Rewiring<Id extends string> {
  readonly cut: readonly Arc<Id>[]
  readonly make: readonly Arc<Id>[]
}

/** The cheapest rewiring found for a slot of x and one of y (x = y for two of x). */
export function chooseRewiring<Id extends string>(
  graph: BoundedGraph<Id>,
  x: Id,
  y: Id,
  chooser: Chooser<Id>,
): Choice<Rewiring<Id>> | undefined {
  const { random } = chooser
  const arcs = 2 * graph.edges.size
  const single = (arc: Arc<Id>) => switchCost(graph, x, y, arc, chooser)
  const double = (pair: readonly [Arc<Id>, Arc<Id>]) => doubleSwitchCost(graph, x, y, pair, chooser)
  let best = asSwitch(
    x,
    y,
    cheapest(arcs, (position) => arcAt(graph, position), single, random),
  )
  if (best?.cost === 0) return best
  if (chooser.diversity?.matters) {
    const draw = () => drawnArc(graph, chooser)
    const drawPair = () => pairOf(draw(), draw())
    best = cheaper(best, asSwitch(x, y, cheapestDrawn(mixedTries, draw, single)))
    best = cheaper(best, asDoubleSwitch(x, y, cheapestDrawn(2 * mixedTries, drawPair, double)))
    // The only remaining cost is crowding, which does not justify a full scan.
    if (best !== undefined && best.cost < 1) return best
  }
  // Numbered so that both arcs change from one position to the next: a short scan then sees many of each.
  const pairAt = (position: number): readonly [Arc<Id>, Arc<Id>] => [
    arcAt(graph, position % arcs),
    arcAt(graph, (position + Math.floor(position / arcs)) % arcs),
  ]
  return cheaper(best, asDoubleSwitch(x, y, cheapest(arcs * arcs, pairAt, double, random)))
}

/** Arcs drawn with every network equally likely, where those drawn from all edges would crowd a node. */
const mixedTries = 32

function cheaper<T>(one: Choice<T> | undefined, other: Choice<T> | undefined): Choice<T> | undefined {
  return (other?.cost ?? Infinity) < (one?.cost ?? Infinity) ? other : one
}

/** Cut a random edge a–b, make x–a and y–b. With x = y that puts x between a and b. */
function asSwitch<Id extends string>(
  x: Id,
  y: Id,
  choice: Choice<Arc<Id>> | undefined,
): Choice<Rewiring<Id>> | undefined {
  if (choice === undefined) return undefined
  const [a, b] = choice.value
  return { value: { cut: [[a, b]], make: [[x, a], [y, b]] }, cost: choice.cost } // prettier-ignore
}

function switchCost<Id extends string>(
  graph: BoundedGraph<Id>,
  x: Id,
  y: Id,
  [a, b]: Arc<Id>,
  { reluctance, diversity }: Chooser<Id>,
): number {
  if (!graph.connectable(x, a) || !graph.connectable(y, b)) return Infinity
  const both = x === y ? (diversity?.reluctanceToBoth(x, a, b) ?? 0) : 0
  return reluctance(x, a) + reluctance(y, b) + both
}

/** Cut a–b and c–e, make x–a, b–c and e–y: the alternative when every single switch makes an avoided edge. */
function asDoubleSwitch<Id extends string>(
  x: Id,
  y: Id,
  choice: Choice<readonly [Arc<Id>, Arc<Id>]> | undefined,
): Choice<Rewiring<Id>> | undefined {
  if (choice === undefined) return undefined
  const [[a, b], [c, e]] = choice.value
  return { value: { cut: [[a, b], [c, e]], make: [[x, a], [b, c], [e, y]] }, cost: choice.cost } // prettier-ignore
}

function doubleSwitchCost<Id extends string>(
  graph: BoundedGraph<Id>,
  x: Id,
  y: Id,
  [[a, b], [c, e]]: readonly [Arc<Id>, Arc<Id>],
  { reluctance, diversity }: Chooser<Id>,
): number {
  if (!graph.connectable(x, a) || !graph.connectable(b, c) || !graph.connectable(e, y)) return Infinity
  // x–a and e–y must not be the same edge. No other two can be: the cut ones exist, the made ones do not.
  if ((x === y && a === e) || (x === e && a === y)) return Infinity
  const both = x === y ? (diversity?.reluctanceToBoth(x, a, e) ?? 0) : 0
  return reluctance(x, a) + reluctance(b, c) + reluctance(e, y) + both
}

/** An edge, and one of its directions. All nodes have the same degree, so the first end is a random node. */
export function randomArc<Id extends string>(graph: BoundedGraph<Id>, random: RandomSource): Arc<Id> {
  const { a, b } = graph.edges.at(randomPosition(graph.edges.size, random))
  return random.next() < 0.5 ? [a, b] : [b, a]
}

/** An edge of a node, with every network equally likely, read from that node. */
export function drawnArc<Id extends string>(
  graph: BoundedGraph<Id>,
  { random, diversity }: Chooser<Id>,
): Arc<Id> | undefined {
  if (diversity === undefined) return undefined
  const node = diversity.draw(random)
  const ends = [...graph.linksOf(node).keys()]
  const end = ends[randomPosition(ends.length, random)]
  return end === undefined ? undefined : [node, end]
}

/** The second is read towards its drawn node, so that both drawn nodes get new neighbours. */
function pairOf<Id extends string>(one: Arc<Id> | undefined, other: Arc<Id> | undefined) {
  if (one === undefined || other === undefined) return undefined
  const isSame = (one[0] === other[0] && one[1] === other[1]) || (one[0] === other[1] && one[1] === other[0])
  return isSame ? undefined : ([one, [other[1], other[0]]] as const)
}

/** The edge at half of `position`, read in the direction given by the remainder. */
function arcAt<Id extends string>(graph: BoundedGraph<Id>, position: number): Arc<Id> {
  const { a, b } = graph.edges.at(position >> 1)
  return position % 2 === 0 ? [a, b] : [b, a]
}
