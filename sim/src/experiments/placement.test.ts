import { expect, it } from 'vitest'
import { placement } from './placement.ts'

it('spreads stream parts over trackers, and moves no more than the share of one that comes or goes', () => {
  const { led, held, removed, added } = placement({ seed: 'test', parts: 20_000, trackers: 16, copies: 2 })
  expect(led.mean).toBe(1_250)
  expect(held.mean).toBe(2_500)
  expect(led.worstDeviation).toBeLessThan(0.1)
  expect(held.worstDeviation).toBeLessThan(0.1)
  for (const { led, held, fair, needless } of [removed, added]) {
    expect(led).toBeGreaterThan(fair / 2)
    expect(led).toBeLessThan(1.1 * fair)
    expect(held).toBeLessThan(1.1 * fair)
    expect(needless).toBe(0)
  }
})

it('is the same for the same seed', () => {
  const options = { seed: 'a', parts: 500, trackers: 5, copies: 3 }
  expect(placement(options)).toEqual(placement(options))
  expect(placement({ ...options, seed: 'b' })).not.toEqual(placement(options))
})
