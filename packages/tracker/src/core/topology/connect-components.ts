import { cheapest } from './cheapest.ts'
import type { Chooser } from './chooser.ts'
import { componentOf, componentsOf, findSeparated } from './connectivity.ts'
import type { Component } from './connectivity.ts'
import type { GraphEdit } from './graph-edit.ts'

/**
 * Reconnects a graph that was connected before `edit`. Every component that came off holds an end of an edge that was cut, so
 * it is enough to search from the nodes that have changed.
 */
export function reconnectChanged<Id extends string>(edit: GraphEdit<Id>, chooser: Chooser<Id>): void {
  for (;;) {
    const separated = findSeparated(edit.graph, edit.changed())
    if (separated === undefined) return
    const island = componentOf(edit.graph, separated)
    bridge(edit, island, (id) => !island.members.has(id), chooser)
  }
}

/** Connects any graph. O(n). */
export function connectComponents<Id extends string>(edit: GraphEdit<Id>, chooser: Chooser<Id>): void {
  const [main, ...islands] = componentsOf(edit.graph).sort((a, b) => b.members.size - a.members.size)
  const mainland = new Set(main?.members)
  for (const island of islands) {
    bridge(edit, island, (id) => mainland.has(id), chooser)
    for (const id of island.members) mainland.add(id)
  }
}

/**
 * Joins `island` to the component on the mainland by a switch that keeps all degrees: cut a–b on the island and c–e on the
 * mainland, make a–c and b–e. An edge outside the island's spanning tree closes a cycle, so a and b stay connected without it,
 * and both halves of the mainland, if it falls in two, stay connected through them. There is such an edge because full slots
 * leave every node at least two edges, and an island of such nodes has a cycle.
 */
function bridge<Id extends string>(
  edit: GraphEdit<Id>,
  island: Component<Id>,
  onMainland: (id: Id) => boolean,
  { random, reluctance }: Chooser<Id>,
): void {
  const { graph } = edit
  const spare = [...island.members].flatMap((id) =>
    [...graph.linksOf(id).values()].filter((edge) => edge.a === id && !island.tree.has(edge)),
  )
  const candidate = (position: number) => {
    const { a, b } = graph.edges.at(Math.floor(position / 2) % graph.edges.size)
    const cut = spare[Math.floor(position / 2 / graph.edges.size)]
    if (cut === undefined) throw new Error('an island without a cycle')
    return { cut, c: position % 2 === 0 ? a : b, e: position % 2 === 0 ? b : a }
  }
  const cost = ({ cut, c, e }: ReturnType<typeof candidate>) =>
    onMainland(c) ? reluctance(cut.a, c) + reluctance(cut.b, e) : Infinity
  const choice = cheapest(2 * spare.length * graph.edges.size, candidate, cost, random)
  if (choice === undefined) throw new Error('an island without a mainland')
  const { cut, c, e } = choice.value
  edit.disconnect(cut.a, cut.b)
  edit.disconnect(c, e)
  edit.connect(cut.a, c)
  edit.connect(cut.b, e)
}
