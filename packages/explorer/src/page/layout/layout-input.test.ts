import { describe, expect, it } from 'vitest'
import type { Edge } from '../api/answers.ts'
import { edgeLength, layoutRequest, shapeOf } from './layout-input.ts'

const edge = (a: string, b: string, rttMs: number | null = null): Edge => ({
  a,
  b,
  rttMs,
  near: false,
  transport: null,
  relayed: false,
})

describe('the input of the layout', () => {
  it('is the same for the same overlay, in whatever order it came', () => {
    const one = shapeOf(['a', 'b', 'c'], [edge('a', 'b', 5), edge('b', 'c')])
    const other = shapeOf(['c', 'a', 'b'], [edge('b', 'c', 9), edge('a', 'b')])
    expect(other.signature).toBe(one.signature)
    expect(shapeOf(['a', 'b', 'c'], [edge('a', 'b')]).signature).not.toBe(one.signature)
  })

  it('speaks of nodes by number, and leaves out edges to nowhere', () => {
    const shape = shapeOf(['b', 'a'], [edge('a', 'b', 9), edge('a', 'gone')])
    const { ids, ends, lengths } = layoutRequest(shape, 1, { tall: false, still: false })
    expect([ids, [...ends], lengths.length]).toEqual([['a', 'b'], [0, 1], 1])
  })

  it('draws short what is near', () => {
    const scale = { shortMs: 1, longMs: 100 }
    const lengths = [0.1, 1, 10, 100, 10_000].map((rttMs) => edgeLength({ rttMs }, scale))
    expect(lengths).toEqual([0, 0, 0.5, 1, 1])
    expect(edgeLength({ rttMs: null }, scale)).toBe(0.5)
  })
})
