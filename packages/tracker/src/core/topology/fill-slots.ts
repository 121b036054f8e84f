import type { BoundedGraph } from './bounded-graph.ts'
import { cheapest, randomPosition, type Choice } from './cheapest.ts'
import type { Chooser } from './chooser.ts'
import type { GraphEdit } from './graph-edit.ts'
import { IndexedSet } from './indexed-set.ts'
import type { ReadonlyIndexedSet } from './indexed-set.ts'
import { chooseRewiring } from './rewiring.ts'

/**
 * Fills all free slots of the graph, except one if their number is odd: connects nodes that have some, then cuts edges for the
 * rest. With at most degree + 1 nodes the result is the complete graph; above that it always succeeds, whatever the initial
 * graph (see `fillTwoSlots`).
 */
export function fillSlots<Id extends string>(edit: GraphEdit<Id>, chooser: Chooser<Id>): void {
  if (edit.graph.size > edit.graph.degree + 1) pairOpenNodes(edit, chooser)
  fillSlotsByCutting(edit, chooser)
}

/**
 * The same for a node that has just joined: cuts edges for all of its slots, even where an old node has one free. If it used
 * that one, too few of the old edges would be cut, and the older two nodes are, the likelier they would be neighbours.
 */
export function fillSlotsByCutting<Id extends string>(edit: GraphEdit<Id>, chooser: Chooser<Id>): void {
  const { graph } = edit
  if (graph.size <= graph.degree + 1) connectAll(edit)
  else while (hasTwoFreeSlots(graph)) fillTwoSlots(edit, chooser)
}

function hasTwoFreeSlots<Id extends string>(graph: BoundedGraph<Id>): boolean {
  const { open } = graph
  return open.size > 1 || (open.size === 1 && graph.freeSlots(open.at(0)) > 1)
}

/** In a complete graph no edge is there for nearness: those chosen for it count as random from now on. */
function connectAll<Id extends string>(edit: GraphEdit<Id>): void {
  const { graph } = edit
  const nodes = [...graph.nodes()]
  for (const [position, a] of nodes.entries()) {
    for (const b of nodes.slice(position + 1)) {
      if (graph.linksOf(a).get(b)?.near === true) edit.disconnect(a, b)
      if (graph.connectable(a, b)) edit.connect(a, b)
    }
  }
}

/** Connects random pairs of nodes with free slots until no pair without cost is left. */
function pairOpenNodes<Id extends string>(edit: GraphEdit<Id>, chooser: Chooser<Id>): void {
  const { graph } = edit
  const waiting = new IndexedSet<Id>()
  for (const id of graph.open) waiting.add(id)
  while (waiting.size > 1) {
    const x = waiting.at(randomPosition(waiting.size, chooser.random))
    waiting.delete(x)
    const partner = choosePartner(graph, x, waiting, chooser)
    // A node that has no partner now will have none later: the others' free slots only become fewer and their edges more.
    if (partner?.cost !== 0) continue
    edit.connect(x, partner.value)
    if (graph.freeSlots(x) > 0) waiting.add(x)
    if (graph.freeSlots(partner.value) === 0) waiting.delete(partner.value)
  }
}

/**
 * Uses up two free slots, of one node or of two. There is always a way when the graph has at least degree + 2 nodes.
 * Suppose there is no open node that x could simply be connected to: then every node outside N(x) is full. Take such
 * a node a; it has degree neighbours.
 * - x has two slots: it has at most degree − 2 neighbours, so a has a neighbour b outside N(x): put x between them.
 * - x has one slot, and so has y, adjacent to x: y has at most degree − 2 neighbours beside x, so a, which is not
 *   adjacent to x, has a neighbour b that is neither y nor one of y's: cut a–b, make x–a and y–b.
 */
function fillTwoSlots<Id extends string>(edit: GraphEdit<Id>, chooser: Chooser<Id>): void {
  const { graph } = edit
  const position = randomPosition(graph.open.size, chooser.random)
  const x = graph.open.at(position)
  const other = graph.open.at((position + 1) % graph.open.size)
  const rewiring = chooseRewiring(graph, x, graph.freeSlots(x) > 1 ? x : other, chooser)
  if (rewiring?.cost !== 0) {
    const partner = choosePartner(graph, x, graph.open, chooser)
    if (partner !== undefined && partner.cost <= (rewiring?.cost ?? Infinity)) {
      edit.connect(x, partner.value)
      return
    }
  }
  if (rewiring === undefined) throw new Error('a graph with free slots that nothing can fill')
  for (const [a, b] of rewiring.value.cut) edit.disconnect(a, b)
  for (const [a, b] of rewiring.value.make) edit.connect(a, b)
}

function choosePartner<Id extends string>(
  graph: BoundedGraph<Id>,
  x: Id,
  among: ReadonlyIndexedSet<Id>,
  { random, reluctance }: Chooser<Id>,
): Choice<Id> | undefined {
  const cost = (y: Id): number => (graph.connectable(x, y) ? reluctance(x, y) : Infinity)
  return cheapest(among.size, (position) => among.at(position), cost, random)
}
