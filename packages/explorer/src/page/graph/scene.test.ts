import { describe, expect, it } from 'vitest'
import type { Edge } from '../api/answers.ts'
import { palettes } from '../colours.ts'
import { shapeOf } from '../layout/layout-input.ts'
import { groupEdges, neighboursIn, scaleOf, type Scene } from './scene.ts'

const edge = (a: string, b: string, more: Partial<Edge> = {}): Edge => {
  return { ...{ a, b, rttMs: null, near: false, transport: null, relayed: false }, ...more }
}
const shape = shapeOf(
  ['a', 'b', 'c', 'd'],
  [
    edge('a', 'b', { rttMs: 1, transport: 'websocket', near: true }),
    edge('b', 'c', { rttMs: 100, transport: 'webrtc' }),
    edge('c', 'd'),
  ],
)
const scene: Scene = {
  ...{ shape, coloring: 'rtt', theme: 'light', scale: scaleOf(shape) },
  ...{ storage: new Set(), self: undefined, selected: undefined },
}
const { light } = palettes

describe('a scene', () => {
  it('colours edges by round-trip time, near ones on top', () => {
    const groups = groupEdges(shape.edges, scene)
    expect(groups.map(({ colour, near }) => [colour, near])).toEqual([
      [light.rtt[2], false],
      [light.unmeasured, false],
      [light.rtt[0], true],
    ])
  })

  it('colours edges by transport', () => {
    const groups = groupEdges(shape.edges, { ...scene, coloring: 'transport', theme: 'dark' })
    const { dark } = palettes
    expect(groups.map(({ colour }) => colour)).toEqual([dark.webrtc, dark.unmeasured, dark.websocket])
  })

  it('knows neighbours', () => {
    expect(neighboursIn(shape).map((set) => [...set])).toEqual([[1], [0, 2], [1, 3], [2]])
  })
})
