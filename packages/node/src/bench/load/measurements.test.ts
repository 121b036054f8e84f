import { expect, it } from 'vitest'
import { Measurements } from './measurements.ts'

it('counts as unsent what was refused, and what is still being published', () => {
  const measurements = new Measurements(2)
  for (const part of [0, 0, 1]) measurements.published(part, 0, 0)
  measurements.sent(0)
  measurements.unsent(1, new Error('no'))
  expect(measurements.result()).toMatchObject({ published: [2, 1], unsent: [1, 1], pending: 1 })
  measurements.sent(0)
  expect(measurements.result()).toMatchObject({ unsent: [0, 1], pending: 0, errors: { no: 1 } })
})
