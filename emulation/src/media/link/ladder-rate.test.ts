import { expect, it } from 'vitest'
import { LadderRate } from './ladder-rate.ts'

it('goes up a step while nothing waits, and down while too much does', () => {
  const ladder = new LadderRate([256, 500, 1_280])
  const rates = [0, 0, 0, 30_000, 30_000, 30_000, 1_000].map((queued, i) => ladder.next(queued, i * 200))
  expect(rates).toEqual([500, 1_280, 1_280, 500, 256, 256, 256])
  expect(ladder.next(0, 1_201)).toBe(500)
  expect(ladder.next(0, 1_202)).toBe(500)
})
