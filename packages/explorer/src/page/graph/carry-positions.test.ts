import { describe, expect, it } from 'vitest'
import { shapeOf } from '../layout/layout-input.ts'
import { carryPositions } from './carry-positions.ts'

const before = shapeOf(['a', 'b', 'c'], [])
const positions = Float32Array.of(1, 2, 3, 4, 5, 6)
const carriedTo = (...nodes: string[]) => [...carryPositions(before, shapeOf(nodes, []), positions)]

describe('positions of another shape', () => {
  it('stay with their nodes', () => {
    expect(carriedTo('a', 'b', 'c')).toEqual([...positions])
    expect(carriedTo('a', 'c')).toEqual([1, 2, 5, 6])
  })

  it('are none where one node leaves and another joins', () => {
    expect(carriedTo('a', 'c', 'd')).toEqual([])
    expect([...carryPositions(before, shapeOf(['a'], []), new Float32Array())]).toEqual([])
  })
})
