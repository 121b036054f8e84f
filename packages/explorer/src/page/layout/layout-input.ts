import type { Edge } from '../api/answers.ts'
import { rttScale, type RttScale } from '../colours.ts'

/** An overlay as numbers, for the layout and the drawing. */
export interface GraphShape {
  /** Node ids; everything else speaks of nodes by their positions in it. */
  readonly ids: readonly string[]
  readonly indexOf: ReadonlyMap<string, number>
  readonly edges: readonly ShapedEdge[]
  /** Changes when nodes or edges do, and not when a round-trip time does. */
  readonly signature: string
}

export interface ShapedEdge extends Edge {
  readonly from: number
  readonly to: number
}

/** Time between two pictures of a layout that moves. */
export const frameMs = 16

/** What the worker gets. */
export interface LayoutRequest {
  readonly generation: number
  readonly ids: readonly string[]
  /** Pairs of positions in `ids`. */
  readonly ends: Uint32Array
  /** How long each edge is among the others, 0 to 1. */
  readonly lengths: Float32Array
  /** The picture is higher than wide. */
  readonly tall: boolean
  /** Nothing should move: only the end of the movement is told. */
  readonly still: boolean
}

/** What the worker answers, again and again until the picture rests. */
export interface LayoutAnswer {
  readonly generation: number
  /** x and y of each node. */
  readonly positions: Float32Array
  readonly resting: boolean
}

/** Nodes in a stable order; edges between unknown nodes are left out. */
export function shapeOf(nodes: readonly string[], edges: readonly Edge[]): GraphShape {
  const ids = nodes.toSorted()
  const indexOf = new Map(ids.map((id, index) => [id, index]))
  const shaped = edges.flatMap((edge) => {
    const [from, to] = [indexOf.get(edge.a), indexOf.get(edge.b)]
    return from === undefined || to === undefined ? [] : [{ ...edge, from, to }]
  })
  const pairs = shaped.map(({ from, to }) => `${from}-${to}`).toSorted()
  return { ids, indexOf, edges: shaped, signature: `${ids.join()}|${pairs.join()}` }
}

export function layoutRequest(
  shape: GraphShape,
  generation: number,
  how: Pick<LayoutRequest, 'tall' | 'still'>,
): LayoutRequest {
  const ends = new Uint32Array(2 * shape.edges.length)
  shape.edges.forEach(({ from, to }, index) => ends.set([from, to], 2 * index))
  const scale = rttScale(shape.edges.flatMap(({ rttMs }) => rttMs ?? []))
  const lengths = Float32Array.from(shape.edges, (edge) => edgeLength(edge, scale))
  return { generation, ids: shape.ids, ends, lengths, ...how }
}

/** Short where the round-trip time is, on the scale of its overlay: what is near is drawn near. */
export function edgeLength({ rttMs }: Pick<Edge, 'rttMs'>, { shortMs, longMs }: RttScale): number {
  if (rttMs === null) return 0.5
  return Math.min(1, Math.max(0, Math.log(rttMs / shortMs) / Math.log(longMs / shortMs)))
}
