import { expect, it } from 'vitest'
import { finalPlan, priceUsd } from './final-cost.ts'
import source from './source-003.json' with { type: 'json' }

it.each([
  [2, 1, 20],
  [12, 8, 3],
])('of %i sessions that a machine holds it is given %i', (held, sessionsPerMachine, machines) => {
  const plan = finalPlan({ arm: 'browser', held, members: 5, users: 100 })
  expect(plan).toMatchObject({ sessionsPerMachine, machines, sessions: 20, users: 100 })
})

it('gives a machine one session at least, and what it holds of full sessions only', () => {
  expect(finalPlan({ arm: 'browser', held: 1, members: 5, users: 11 })).toMatchObject({
    ...{ sessionsPerMachine: 1, sessions: 3, machines: 3, users: 15 },
  })
})

it('costs what the source says of its own machines', () => {
  for (const { machines, minutes, usd } of source.final)
    expect(priceUsd(machines, minutes, 0.1824)).toBeCloseTo(usd, 3)
})
