import { palettes, rttColours, rttScale, rttStep, type RttScale, type Theme } from '../colours.ts'
import { colourOfTransport } from '../transports.ts'
import type { GraphShape, ShapedEdge } from '../layout/layout-input.ts'

/** The meaning of an edge's colour. */
export const colourings = ['rtt', 'transport'] as const
export type Coloring = (typeof colourings)[number]

/** What is drawn, but for where. */
export interface Scene {
  readonly shape: GraphShape
  readonly coloring: Coloring
  readonly theme: Theme
  readonly scale: RttScale
  /** Nodes that store messages. */
  readonly storage: ReadonlySet<string>
  /** The node of this page, once it takes part. */
  readonly self: string | undefined
  readonly selected: string | undefined
}

/** Edges that look alike, to be drawn in one go. */
export interface EdgeGroup {
  readonly colour: string
  readonly near: boolean
  readonly edges: readonly ShapedEdge[]
}

export function scaleOf({ edges }: { readonly edges: readonly Pick<ShapedEdge, 'rttMs'>[] }): RttScale {
  return rttScale(edges.flatMap(({ rttMs }) => (rttMs === null ? [] : [rttMs])))
}

/** The colour of an edge. */
function edgeColour(
  edge: ShapedEdge,
  { coloring, theme, scale }: Pick<Scene, 'coloring' | 'theme' | 'scale'>,
): string {
  const palette = palettes[theme]
  if (coloring === 'transport') return colourOfTransport(edge, palette)
  return edge.rttMs === null
    ? palette.unmeasured
    : (colourSteps[theme][rttStep(edge.rttMs, scale)] ?? palette.unmeasured)
}

const colourSteps = { light: rttColours(palettes.light), dark: rttColours(palettes.dark) }

/** Edges by how they look; random ones first, so that near ones lie above them. */
export function groupEdges(edges: readonly ShapedEdge[], scene: Scene): EdgeGroup[] {
  const groups = new Map<string, { colour: string; near: boolean; edges: ShapedEdge[] }>()
  for (const edge of edges) {
    const colour = edgeColour(edge, scene)
    const key = `${edge.near}${colour}`
    const group = groups.get(key) ?? { colour, near: edge.near, edges: [] }
    group.edges.push(edge)
    groups.set(key, group)
  }
  return [...groups.values()].toSorted((a, b) => Number(a.near) - Number(b.near))
}

/** What each node is tied to, by its position. */
export function neighboursIn({ ids, edges }: GraphShape): readonly ReadonlySet<number>[] {
  const neighbours = ids.map(() => new Set<number>())
  for (const { from, to } of edges) {
    neighbours[from]?.add(to)
    neighbours[to]?.add(from)
  }
  return neighbours
}
