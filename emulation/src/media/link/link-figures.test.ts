import { expect, it } from 'vitest'
import { linkFigures } from './link-figures.ts'
import { fallingLine } from './link-plan.ts'

const renditions = { clips: [], pictures: 1, ssimOf: () => Promise.resolve(1) }
const peer = { startUs: 0, pictures: [], beside: [] }

it.each([
  [40, null],
  [41, 0],
])('has a rate while the line carries half only when that lasts: until %i s', async (returnsS, rate) => {
  const line = fallingLine(returnsS)
  const run = { arm: 'ours', beside: 'alone', oneWayMs: 50, line, seconds: 71 } as const
  const figures = await linkFigures({ ...run, sender: peer, receiver: peer, other: undefined }, renditions)
  expect(figures.kbitPerSWhileHalf).toBe(rate)
  expect([29, 30, returnsS - 1, returnsS].map((second) => figures.lineKbitPerS[second])).toEqual([
    1_000, 500, 500, 1_000,
  ])
})
