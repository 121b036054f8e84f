import type { BoundedGraph } from './bounded-graph.ts'
import { cheapest } from './cheapest.ts'
import type { Choice, Chooser } from './cheapest.ts'

/** An edge read in one of its two directions. */
type Arc<Id extends string> = readonly [Id, Id]

/** A way to use up two free slots: edges to cut and edges to make instead. */
export interface Rewiring<Id extends string> {
  readonly cut: readonly Arc<Id>[]
  readonly make: readonly Arc<Id>[]
}

/** The rewiring for a slot of x and one of y (x = y for two of x) with the least reluctance that was found. */
export function chooseRewiring<Id extends string>(
  graph: BoundedGraph<Id>,
  x: Id,
  y: Id,
  chooser: Chooser<Id>,
): Choice<Rewiring<Id>> | undefined {
  const single = chooseSwitch(graph, x, y, chooser)
  if (single?.cost === 0) return single
  const double = chooseDoubleSwitch(graph, x, y, chooser)
  return (double?.cost ?? Infinity) < (single?.cost ?? Infinity) ? double : single
}

/** Cut a random edge a–b, make x–a and y–b. With x = y that puts x between a and b. */
function chooseSwitch<Id extends string>(
  graph: BoundedGraph<Id>,
  x: Id,
  y: Id,
  { random, reluctance }: Chooser<Id>,
): Choice<Rewiring<Id>> | undefined {
  const cost = ([a, b]: Arc<Id>): number =>
    graph.connectable(x, a) && graph.connectable(y, b) ? reluctance(x, a) + reluctance(y, b) : Infinity
  const choice = cheapest(2 * graph.edges.size, (position) => arcAt(graph, position), cost, random)
  if (choice === undefined) return undefined
  const [a, b] = choice.value
  return { value: { cut: [[a, b]], make: [[x, a], [y, b]] }, cost: choice.cost } // prettier-ignore
}

/** Cut a–b and c–e, make x–a, b–c and e–y: a way round when every single switch makes an edge that had better not be. */
function chooseDoubleSwitch<Id extends string>(
  graph: BoundedGraph<Id>,
  x: Id,
  y: Id,
  { random, reluctance }: Chooser<Id>,
): Choice<Rewiring<Id>> | undefined {
  const arcs = 2 * graph.edges.size
  // Numbered so that both arcs change from one position to the next: a short scan then sees many of each.
  const candidate = (position: number): readonly [Arc<Id>, Arc<Id>] => [
    arcAt(graph, position % arcs),
    arcAt(graph, (position + Math.floor(position / arcs)) % arcs),
  ]
  const cost = ([[a, b], [c, e]]: readonly [Arc<Id>, Arc<Id>]): number => {
    if (!graph.connectable(x, a) || !graph.connectable(b, c) || !graph.connectable(e, y)) return Infinity
    // x–a and e–y must not be the same edge. No other two can be: the cut ones exist, the made ones do not.
    if ((x === y && a === e) || (x === e && a === y)) return Infinity
    return reluctance(x, a) + reluctance(b, c) + reluctance(e, y)
  }
  const choice = cheapest(arcs * arcs, candidate, cost, random)
  if (choice === undefined) return undefined
  const [[a, b], [c, e]] = choice.value
  return { value: { cut: [[a, b], [c, e]], make: [[x, a], [b, c], [e, y]] }, cost: choice.cost } // prettier-ignore
}

/** The edge at half of `position`, read in the direction that the remainder says. */
function arcAt<Id extends string>(graph: BoundedGraph<Id>, position: number): Arc<Id> {
  const { a, b } = graph.edges.at(position >> 1)
  return position % 2 === 0 ? [a, b] : [b, a]
}
