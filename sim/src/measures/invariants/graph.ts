import type { NodeId } from '@runnel/protocol'
import type { Breaches } from './breaches.ts'

/** The attached neighbours of each node of a stream part. */
export type Overlay = ReadonlyMap<NodeId, ReadonlySet<NodeId>>

/** What an overlay should be like. */
export interface GraphShape {
  /** Neighbours that a node has at most. */
  readonly degree: number
  /** Whether all have as many, but for one open slot where the product is odd. */
  readonly isRegular: boolean
}

/** Once quiet: simple, symmetric, connected, and of its shape. */
export function checkGraph(overlay: Overlay, shape: GraphShape, breaches: Breaches): void {
  const fault = faultOf(overlay, shape)
  if (fault !== undefined) breaches.report('graph', fault)
}

/** What is wrong with an overlay; undefined for nothing. */
export function faultOf(overlay: Overlay, { degree, isRegular }: GraphShape): string | undefined {
  const wanted = Math.min(degree, overlay.size - 1)
  let open = 0
  for (const [nodeId, neighbours] of overlay) {
    for (const other of neighbours) {
      if (other === nodeId) return `${nodeId} is its own neighbour`
      if (!overlay.has(other)) return `${nodeId} has the neighbour ${other}, which is not there`
      if (!overlay.get(other)?.has(nodeId))
        return `${nodeId} has the neighbour ${other}, but not the other way`
    }
    if (neighbours.size > wanted) return `${nodeId} has ${neighbours.size} neighbours, not ${wanted}`
    open += wanted - neighbours.size
  }
  if (isRegular && open > (overlay.size * Math.max(0, wanted)) % 2)
    return `${open} open slots among ${overlay.size} nodes of degree ${wanted}`
  const reached = componentOf(overlay).size
  return reached === overlay.size ? undefined : `in pieces: ${reached} of ${overlay.size} nodes in one`
}

/** All that can be reached from `start`, over edges that both ends have. */
export function componentOf(overlay: Overlay, start = overlay.keys().next().value): Set<NodeId> {
  const reached = new Set(start === undefined ? [] : [start])
  for (const nodeId of reached)
    for (const other of overlay.get(nodeId) ?? []) if (overlay.get(other)?.has(nodeId)) reached.add(other)
  return reached
}

/** How many neighbours a node has that have it, too; `gone` for a node that is not in the overlay. */
export function twoWayDegree(overlay: Overlay, nodeId: NodeId, gone: number): number {
  const neighbours = overlay.get(nodeId)
  if (neighbours === undefined) return gone
  let degree = 0
  for (const other of neighbours) if (overlay.get(other)?.has(nodeId)) degree++
  return degree
}
