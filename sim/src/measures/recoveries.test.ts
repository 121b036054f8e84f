import { toNodeId, type NodeId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { Recoveries } from './recoveries.ts'

const id = (digit: number): NodeId => toNodeId(`0x${String(digit).repeat(40)}`)
const [a, b, c, d] = [id(1), id(2), id(3), id(4)]

/** Nodes and their neighbours. */
function overlayOf(...nodes: (readonly [NodeId, ...NodeId[]])[]): Map<NodeId, Set<NodeId>> {
  return new Map(nodes.map(([nodeId, ...neighbours]) => [nodeId, new Set(neighbours)]))
}

describe('the recoveries from events', () => {
  it('are over when all who were concerned have had their degree, at the same time or not', () => {
    const recoveries = new Recoveries()
    recoveries.happened(1000, [a, b])
    recoveries.look(1100, overlayOf([a, c, d], [b, c], [c, a, b], [d, a]), 2)
    expect(recoveries.durationsMs).toEqual([null])
    recoveries.look(1500, overlayOf([a, c], [b, c, d], [c, a, b], [d, b]), 2)
    expect(recoveries.durationsMs).toEqual([500])
  })

  it('count an edge when both ends have it', () => {
    const recoveries = new Recoveries()
    recoveries.happened(0, [a])
    recoveries.look(100, overlayOf([a, b, c], [b, a], [c, b]), 2)
    expect(recoveries.durationsMs).toEqual([null])
  })

  it('do not wait for those who left', () => {
    const recoveries = new Recoveries()
    recoveries.happened(0, [a, d])
    recoveries.look(100, overlayOf([a, b, c], [b, a, c], [c, a, b]), 2)
    expect(recoveries.durationsMs).toEqual([100])
  })

  it('ask of no node more neighbours than there are', () => {
    const recoveries = new Recoveries()
    recoveries.happened(0, [a])
    recoveries.look(100, overlayOf([a, b], [b, a]), 4)
    expect(recoveries.durationsMs).toEqual([100])
  })
})
