import { expect, it } from 'vitest'
import { natMinutes } from './nat-bound.ts'
import { natDefaults } from './run-nat.ts'

it('bounds a run by the pairs that it sets up, and what is expected of them', () => {
  const open = [{ a: 'public', b: 'public' }] as const
  const closed = [{ a: 'symmetric', b: 'symmetric' }] as const
  const minutes = (scenarios: typeof open | typeof closed, repeats: number): number =>
    natMinutes({ repeats, helpers: ['stun'], scenarios })
  expect([minutes(open, 1), minutes(open, 20)]).toEqual([4, 13])
  expect([minutes(closed, 1), minutes(closed, 20)]).toEqual([4, 28])
  expect(natMinutes(natDefaults)).toBeLessThan(720)
})
