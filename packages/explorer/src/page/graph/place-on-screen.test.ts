import { describe, expect, it } from 'vitest'
import type { Edge } from '../api/answers.ts'
import { ForceLayout } from '../layout/force-layout.ts'
import { layoutRequest, shapeOf } from '../layout/layout-input.ts'
import { fitView, nodeAt, nodeTowards, screenPosition } from './place-on-screen.ts'

const square = Float32Array.from([0, 0, 100, 0, 0, 100, 100, 100])

describe('the view', () => {
  it('shows everything in the middle', () => {
    const view = fitView(square, 800, 400)
    const corners = [0, 3].map((index) => screenPosition(square, view, index).map(Math.round))
    expect(corners).toEqual([
      [288, 88],
      [512, 312],
    ])
  })

  it('fills the canvas also with a few nodes that are all equally near', () => {
    const ids = ['a', 'b', 'c', 'd', 'e']
    const edges = ids.flatMap((a, index) =>
      ids
        .slice(index + 1)
        .map((b): Edge => ({ a, b, rttMs: 1, near: false, transport: null, relayed: false })),
    )
    const layout = new ForceLayout()
    layout.take(layoutRequest(shapeOf(ids, edges), 1, { tall: false, still: true }))
    const positions = layout.positions()
    const view = fitView(positions, 1_176, 665)
    const downPx = ids.map((_, index) => screenPosition(positions, view, index)[1])
    expect(Math.max(...downPx) - Math.min(...downPx)).toBeGreaterThan(0.6 * 665)
  })

  it('exists for one node, and for none', () => {
    expect(
      screenPosition(Float32Array.from([7, 7]), fitView(Float32Array.from([7, 7]), 200, 200), 0),
    ).toEqual([100, 100])
    expect(fitView(new Float32Array(), 200, 100)).toEqual({ k: 1, x: 100, y: 50 })
  })

  it('finds the node at a point', () => {
    const view = { k: 2, x: 10, y: 0 }
    expect(nodeAt(square, view, 213, 3, 10)).toBe(1)
    expect(nodeAt(square, view, 100, 100, 10)).toBe(-1)
  })

  it('goes from node to node', () => {
    expect(nodeTowards(square, 0, 'right')).toBe(1)
    expect(nodeTowards(square, 0, 'down')).toBe(2)
    expect(nodeTowards(square, 0, 'left')).toBe(-1)
  })
})
