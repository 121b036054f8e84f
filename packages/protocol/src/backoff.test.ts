import { expect, it } from 'vitest'
import { backoffMs } from './backoff.ts'

it('doubles the pause with each failure in a row, up to a limit, however many there are', () => {
  expect([0, 1, 2, 3, 6, 7, 1_000_000].map((failures) => backoffMs(failures, 100, 5_000))).toEqual([
    100, 100, 200, 400, 3_200, 5_000, 5_000,
  ])
})
