import { expect, it } from 'vitest'
import { mapAtOnce } from './map-at-once.ts'

it('gives results in order, of no more at once than it may', async () => {
  let [running, most] = [0, 0]
  const double = async (n: number) => {
    most = Math.max(most, ++running)
    await Promise.resolve()
    running--
    return n * 2
  }
  expect(await mapAtOnce([1, 2, 3, 4, 5], 2, double)).toEqual([2, 4, 6, 8, 10])
  expect([running, most]).toEqual([0, 2])
})
