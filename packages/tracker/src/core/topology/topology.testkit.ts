import type { OverlayStrategy } from '../strategies/overlay-strategy.ts'

/** What a topology looks like from outside: every node's neighbours. */
export type Picture = ReadonlyMap<string, ReadonlySet<string>>

export function pictureOf<Id extends string>(topology: OverlayStrategy<Id>): Picture {
  return new Map([...topology.nodes()].map((id) => [id, topology.neighbours(id)]))
}

/** The nodes of `after` whose neighbours are not those in `before`. */
export function changedBetween(before: Picture, after: Picture): Set<string> {
  const changed = [...after].filter(([id, neighbours]) => !sameMembers(neighbours, before.get(id)))
  return new Set(changed.map(([id]) => id))
}

export function sameMembers(a: ReadonlySet<string>, b: ReadonlySet<string> | undefined): boolean {
  return a.size === b?.size && [...a].every((id) => b.has(id))
}

/** Everything that must hold of an overlay, as sentences about what does not. Written without the code under test. */
export function faultsOf<Id extends string>(topology: OverlayStrategy<Id>, degree: number): string[] {
  const picture = pictureOf(topology)
  return [...faultsOfEdges(picture, topology), ...faultsOfDegrees(picture, degree), ...faultsOfReach(picture)]
}

function faultsOfEdges<Id extends string>(picture: Picture, topology: OverlayStrategy<Id>): string[] {
  const faults: string[] = []
  let ends = 0
  for (const [id, neighbours] of picture) {
    ends += neighbours.size
    for (const neighbour of neighbours) {
      if (neighbour === id) faults.push(`${id} is its own neighbour`)
      if (picture.get(neighbour)?.has(id) !== true) faults.push(`${id} - ${neighbour} has one end`)
      if (!topology.hasEdge(id as Id, neighbour as Id)) faults.push(`hasEdge denies ${id} - ${neighbour}`)
    }
  }
  const edges = [...topology.edges()]
  for (const [a, b] of edges) if (picture.get(a)?.has(b) !== true) faults.push(`edges() made up ${a} - ${b}`)
  if (topology.size !== picture.size) faults.push(`size is ${topology.size}`)
  if (edges.length !== ends / 2) faults.push(`edges() gave ${edges.length}`)
  if (topology.edgeCount !== ends / 2) faults.push(`edgeCount is ${topology.edgeCount}`)
  return faults
}

function faultsOfDegrees(picture: Picture, degree: number): string[] {
  const wanted = Math.min(degree, picture.size - 1)
  const missing = [...picture].flatMap(([id, { size }]) =>
    size === wanted ? [] : [{ id, by: wanted - size }],
  )
  const open = picture.size > degree ? (picture.size * degree) % 2 : 0
  if (missing.length === open && missing.every(({ by }) => by === 1)) return []
  return missing.map(({ id, by }) => `${id} lacks ${by} neighbours`)
}

function faultsOfReach(picture: Picture): string[] {
  const reached = new Set([...picture.keys()].slice(0, 1))
  for (const id of reached) for (const neighbour of picture.get(id) ?? []) reached.add(neighbour)
  return reached.size === picture.size ? [] : [`${reached.size} of ${picture.size} nodes hang together`]
}
