import type { Edge, Place } from '../api/answers.ts'

/** Nodes at one place. */
export interface Site {
  readonly key: string
  readonly place: Place
  readonly nodes: readonly string[]
  /** Edges that stay there. */
  readonly inner: readonly Edge[]
}

/** All edges between two places. */
export interface Way {
  readonly key: string
  readonly from: Site
  readonly to: Site
  readonly edges: readonly Edge[]
  /** Over the measured ones; null when none is measured. */
  readonly meanRttMs: number | null
}

/** At most this many routes are drawn: those with the most edges. */
const maxWays = 1_500

/** An overlay as sites and the routes between them; nodes at unknown locations are left out. */
export function sitesOf(
  nodes: readonly string[],
  edges: readonly Edge[],
  places: ReadonlyMap<string, Place>,
): { readonly sites: readonly Site[]; readonly ways: readonly Way[] } {
  const sites = new Map<string, { key: string; place: Place; nodes: string[]; inner: Edge[] }>()
  const siteOf = new Map<string, string>()
  for (const node of nodes) {
    const place = places.get(node)
    if (place === undefined) continue
    const key = `${place.latitude},${place.longitude}`
    const site = sites.get(key) ?? { key, place, nodes: [], inner: [] }
    site.nodes.push(node)
    sites.set(key, site)
    siteOf.set(node, key)
  }
  const between = new Map<string, { from: Site; to: Site; edges: Edge[] }>()
  for (const edge of edges) {
    const ends = [siteOf.get(edge.a), siteOf.get(edge.b)].toSorted()
    const [from, to] = ends.map((key) => (key === undefined ? undefined : sites.get(key)))
    if (from === undefined || to === undefined) continue
    if (from === to) {
      from.inner.push(edge)
      continue
    }
    const key = ends.join(' ')
    const way = between.get(key) ?? { from, to, edges: [] }
    way.edges.push(edge)
    between.set(key, way)
  }
  const ways = [...between].map(([key, way]) => ({ ...way, key, meanRttMs: meanRtt(way.edges) }))
  return {
    sites: [...sites.values()].toSorted((a, b) => b.nodes.length - a.nodes.length),
    ways: ways.toSorted((a, b) => b.edges.length - a.edges.length).slice(0, maxWays),
  }
}

export function meanRtt(edges: readonly Edge[]): number | null {
  const known = edges.flatMap(({ rttMs }) => rttMs ?? [])
  return known.length === 0 ? null : known.reduce((sum, ms) => sum + ms, 0) / known.length
}
