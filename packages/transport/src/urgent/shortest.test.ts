import { describe, expect, it } from 'vitest'
import { Shortest } from './shortest.ts'

describe('the shortest', () => {
  it('counts for half a minute, and is forgotten after a minute', () => {
    const shortest = new Shortest()
    expect(shortest.value).toBeUndefined()
    const values: (number | undefined)[] = []
    for (const [atMs, value] of [
      ...[[0, 10] as const, [1_000, 30] as const, [30_000, 20] as const],
      ...[[31_000, 40] as const, [62_000, 50] as const],
    ]) {
      shortest.add(value, atMs)
      values.push(shortest.value)
    }
    expect(values).toEqual([10, 10, 10, 10, 40])
  })
})
