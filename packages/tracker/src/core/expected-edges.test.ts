import type { NodeId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { expectedEdges } from './expected-edges.ts'
import { Replica } from './replica.ts'
import { nodeId, webrtcContact } from './tracker-core.testkit.ts'

const [a, b, c, d] = [0, 1, 2, 3].map(nodeId).sort() as [NodeId, NodeId, NodeId, NodeId]

/** The replica knows the circle a, b, c, d. */
function expectedFrom(said: readonly (readonly [NodeId, readonly NodeId[]])[], refused?: NodeId) {
  const circle = [
    [a, [b, d]],
    [b, [a, c]],
    [c, [b, d]],
    [d, [a, c]],
  ] as const
  const replica = new Replica(
    circle.map(([id, neighbours]) => ({ nodeId: id, contact: webrtcContact, neighbours })),
  )
  const claims = new Map(said.map(([id, neighbours]) => [id, new Set(neighbours)]))
  return expectedEdges({ claims, edges: [], temporary: new Set(), replica }, (id) => id !== refused)
}

describe('the edges that a replica adds to what nodes say', () => {
  it('are all of it as long as nobody says anything', () => {
    expect(expectedFrom([])).toEqual([
      [a, b],
      [a, d],
      [b, c],
      [c, d],
    ])
  })

  it('are not those that both ends claim, nor those that both deny', () => {
    const said = [
      [a, [b]],
      [b, [a]],
      [d, []],
    ] as const
    expect(expectedFrom(said)).toEqual([
      [b, c],
      [c, d],
    ])
  })

  it('have those that one end denies last', () => {
    expect(expectedFrom([[a, [d]]])).toEqual([
      [a, d],
      [b, c],
      [c, d],
      [a, b],
    ])
  })

  it('have no end that is not let in', () => {
    expect(expectedFrom([], a)).toEqual([
      [b, c],
      [c, d],
    ])
  })
})
