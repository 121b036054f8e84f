import { describe, expect, it } from 'vitest'
import { placeNames } from './place-names.ts'

const canvas = { width: 400, height: 400 }

describe('names of nodes', () => {
  it('lie beside edges, not on them', () => {
    // One edge goes straight down, the other up: the name goes to the right.
    const points = [
      [100, 100],
      [100, 300],
      [100, -100],
    ] as const
    const edges = [
      { from: 0, to: 1 },
      { from: 0, to: 2 },
    ]
    expect(placeNames([{ index: 0, width: 60 }], points, edges, 8, canvas)).toEqual([[141, 100]])
    expect(placeNames([{ index: 0, width: 60 }], points, [], 8, canvas)).toEqual([[100, 118]])
  })

  it('stay on the canvas', () => {
    const [[x, y] = [0, 0]] = placeNames([{ index: 0, width: 60 }], [[10, 390]], [], 8, canvas)
    expect([x - 30 >= 0, y <= 393]).toEqual([true, true])
  })

  it('cover neither other nodes nor each other', () => {
    const points = [
      [100, 100],
      [100, 118],
    ] as const
    const [first = [0, 0], second = [0, 0]] = placeNames(
      points.map((_, index) => ({ index, width: 60 })),
      points,
      [],
      8,
      canvas,
    )
    expect(first).toEqual([100, 82])
    expect(second).toEqual([100, 136])
  })
})
