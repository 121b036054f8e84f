import type { GraphShape } from '../layout/layout-input.ts'

type Nodes = Pick<GraphShape, 'ids' | 'indexOf'>

/** The positions of the nodes of one shape, for those of the next; none unless every node of the next has one. */
export function carryPositions(before: Nodes, next: Nodes, positions: Float32Array): Float32Array {
  if (before === next || positions.length === 0) return positions
  const carried = new Float32Array(2 * next.ids.length)
  for (const [index, id] of next.ids.entries()) {
    const at = before.indexOf.get(id)
    if (at === undefined) return new Float32Array()
    carried.set(positions.subarray(2 * at, 2 * at + 2), 2 * index)
  }
  return carried
}
