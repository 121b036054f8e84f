import type { NodeId } from '@runnel/protocol'
import type { MeasuredOverlay, ProcessInfo } from '../control/control-client.ts'

/** An overlay, its nodes by number. */
export interface FormedOverlay {
  readonly edges: readonly { readonly a: number; readonly b: number }[]
  readonly degrees: readonly number[]
}

/** The overlay of these nodes, which are numbered in their order. An end that is none of them has the number -1. */
export function numberedOverlay(
  { edges }: Pick<MeasuredOverlay, 'edges'>,
  nodes: readonly NodeId[],
): FormedOverlay {
  const numbers = new Map(nodes.map((nodeId, index) => [nodeId, index]))
  const degrees = nodes.map(() => 0)
  const numbered = edges.map(({ a, b }) => ({ a: numbers.get(a) ?? -1, b: numbers.get(b) ?? -1 }))
  for (const end of numbered.flatMap(({ a, b }) => [a, b]))
    if (end >= 0) degrees[end] = (degrees[end] ?? 0) + 1
  return { edges: numbered, degrees }
}

/** Whether two overlays of the same nodes have the same edges. */
export function sameEdges(before: FormedOverlay, after: FormedOverlay): boolean {
  const textOf = ({ edges }: FormedOverlay) => JSON.stringify(edges.map(({ a, b }) => [a, b]).toSorted())
  return textOf(before) === textOf(after)
}

/** Edges of a whole overlay: everybody with everybody, or so many for each node; the last one has no other end where they are odd. */
export function edgesOf(nodes: number, degree: number): number {
  return nodes <= degree ? (nodes * (nodes - 1)) / 2 : Math.floor((nodes * degree) / 2)
}

/** Whether a node has exactly the neighbours that it has in the overlay, and knows the clocks of all its links. */
export function isInPlace(
  info: ProcessInfo | undefined,
  { streamPartId, nodes, edges }: MeasuredOverlay,
): boolean {
  const part = info?.streamParts.find((some) => some.streamPartId === streamPartId)
  if (info === undefined || part === undefined || !nodes.includes(info.nodeId)) return false
  const wanted = edges.flatMap(({ a, b }) => (a === info.nodeId ? [b] : b === info.nodeId ? [a] : []))
  const attached = new Set(part.neighbours.map(({ nodeId }) => nodeId))
  const hasAll = wanted.length > 0 && wanted.every((peer) => attached.has(peer))
  return hasAll && attached.size === wanted.length && info.knownClocks === info.links
}
