import { describe, expect, it } from 'vitest'
import type { Edge } from '../api/answers.ts'
import { ForceLayout } from './force-layout.ts'
import { layoutRequest, shapeOf } from './layout-input.ts'

const edge = (a: string, b: string, rttMs: number): Edge => ({
  a,
  b,
  rttMs,
  near: false,
  transport: null,
  relayed: false,
})

/** Nodes in a circle, near ones in pairs. */
function circle(size: number) {
  const ids = Array.from({ length: size }, (_, n) => `n${String(n).padStart(3, '0')}`)
  return shapeOf(
    ids,
    ids.map((id, n) => edge(id, ids[(n + 1) % size] ?? '', n % 2 === 0 ? 1 : 200)),
  )
}

function distance(positions: Float32Array, a: number, b: number): number {
  const at = (index: number) => positions[index] ?? Number.NaN
  return Math.hypot(at(2 * a) - at(2 * b), at(2 * a + 1) - at(2 * b + 1))
}

describe('the layout', () => {
  it('comes to rest, with near nodes near each other', () => {
    const layout = new ForceLayout()
    layout.take(layoutRequest(circle(20), 1, { tall: false, still: true }))
    expect(layout.resting).toBe(true)
    const positions = layout.positions()
    expect(positions.every(Number.isFinite)).toBe(true)
    expect(distance(positions, 0, 1)).toBeLessThan(0.8 * distance(positions, 1, 2))
  })

  it('leaves nodes about where they were when others come and go', () => {
    const layout = new ForceLayout()
    const shape = circle(40)
    layout.take(layoutRequest(shape, 1, { tall: false, still: true }))
    const before = layout.positions()
    const ids = [...shape.ids, 'z-new']
    layout.take(
      layoutRequest(shapeOf(ids, [...shape.edges, edge('n000', 'z-new', 1)]), 2, {
        tall: false,
        still: false,
      }),
    )
    const after = layout.positions()
    expect(after.length).toBe(2 * ids.length)
    expect(after.subarray(0, before.length)).toEqual(before)
    expect(distance(after, 0, 40)).toBeLessThan(30)
  })

  it('needs no edges, nor nodes', () => {
    const layout = new ForceLayout()
    layout.take(layoutRequest(shapeOf([], []), 1, { tall: false, still: true }))
    expect(layout.positions()).toHaveLength(0)
    layout.take(layoutRequest(shapeOf(['a', 'b'], []), 2, { tall: false, still: true }))
    expect(layout.positions().every(Number.isFinite)).toBe(true)
  })
})
