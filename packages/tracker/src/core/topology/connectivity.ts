import type { BoundedGraph, Edge } from './bounded-graph.ts'

/** A connected component and a spanning tree of it. */
export interface Component<Id extends string> {
  readonly members: ReadonlySet<Id>
  readonly tree: ReadonlySet<Edge<Id>>
}

/** The component of `start`. O(its size). */
export function componentOf<Id extends string>(graph: BoundedGraph<Id>, start: Id): Component<Id> {
  const members = new Set([start])
  const tree = new Set<Edge<Id>>()
  // A Set may grow while it is iterated: it is its own breadth-first queue.
  for (const id of members) {
    for (const [neighbour, edge] of graph.linksOf(id)) {
      if (members.has(neighbour)) continue
      members.add(neighbour)
      tree.add(edge)
    }
  }
  return { members, tree }
}

/** All components, in the order of their first nodes. O(n). */
export function componentsOf<Id extends string>(graph: BoundedGraph<Id>): Component<Id>[] {
  const seen = new Set<Id>()
  const components: Component<Id>[] = []
  for (const id of graph.nodes()) {
    if (seen.has(id)) continue
    const component = componentOf(graph, id)
    for (const member of component.members) seen.add(member)
    components.push(component)
  }
  return components
}

/** The nodes reached from one source, or from several whose waves have met. */
interface Wave<Id extends string> {
  readonly source: Id
  readonly queue: Id[]
  /** The number of expanded nodes in the queue. */
  expanded: number
  reached: number
  mergedInto: Wave<Id> | undefined
}

/**
 * One of `sources` whose component does not hold all of them, or `undefined` when one component does. Searches from all sources
 * at once, always expanding the smallest wave, and stops when all waves have met or one is exhausted. So it costs O(√n)
 * expected where the sources are connected in a random regular graph, and a multiple of the smallest component where they are
 * not.
 */
export function findSeparated<Id extends string>(
  graph: BoundedGraph<Id>,
  sources: Iterable<Id>,
): Id | undefined {
  const waves = new Set<Wave<Id>>()
  const reachedBy = new Map<Id, Wave<Id>>()
  for (const source of new Set(sources)) {
    const wave = { source, queue: [source], expanded: 0, reached: 1, mergedInto: undefined }
    waves.add(wave)
    reachedBy.set(source, wave)
  }
  while (waves.size > 1) {
    const wave = smallest(waves)
    const id = wave.queue[wave.expanded++]
    if (id === undefined) return wave.source
    for (const absorbed of expand(graph, id, wave, reachedBy)) waves.delete(absorbed)
  }
  return undefined
}

/** Expands `id`; returns the waves that were merged into others they met. */
function expand<Id extends string>(
  graph: BoundedGraph<Id>,
  id: Id,
  from: Wave<Id>,
  reachedBy: Map<Id, Wave<Id>>,
): Wave<Id>[] {
  const absorbed: Wave<Id>[] = []
  let wave = from
  for (const neighbour of graph.linksOf(id).keys()) {
    const first = reachedBy.get(neighbour)
    if (first === undefined) {
      reachedBy.set(neighbour, wave)
      wave.queue.push(neighbour)
      wave.reached++
      continue
    }
    const met = current(first)
    if (met === wave) continue
    // The expanded wave is the smallest, so this moves the shorter queue.
    for (const waiting of wave.queue.slice(wave.expanded)) met.queue.push(waiting)
    met.reached += wave.reached
    wave.mergedInto = met
    absorbed.push(wave)
    wave = met
  }
  return absorbed
}

function current<Id extends string>(wave: Wave<Id>): Wave<Id> {
  let last = wave
  while (last.mergedInto !== undefined) last = last.mergedInto
  return last
}

function smallest<Id extends string>(waves: Iterable<Wave<Id>>): Wave<Id> {
  let least: Wave<Id> | undefined
  for (const wave of waves) if (least === undefined || wave.reached < least.reached) least = wave
  if (least === undefined) throw new Error('no waves')
  return least
}
