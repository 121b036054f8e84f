import { expect, it } from 'vitest'
import type { Stamp } from '../core/stamp.ts'
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

it('counts for the rate what arrives while it is measured, once', () => {
  const measurements = new Measurements(1)
  measurements.measureFrom(1_000, 5_000)
  const stamp = (count: number, intendedMs: number): Stamp => ({
    runId: 1,
    sender: 0,
    user: 0,
    flow: 0,
    count,
    intendedMs,
  })
  measurements.received(1, stamp(0, 900), 999)
  measurements.received(1, stamp(1, 1_500), 4_000)
  measurements.received(1, stamp(2, 2_000), 3_000)
  measurements.received(1, stamp(2, 2_000), 9_000)
  measurements.received(1, stamp(3, 4_999), 5_000)
  expect(measurements.result().inWindow).toBe(2)
})

it('keeps of an error its first line: Playwright adds all that its browser has logged', () => {
  const measurements = new Measurements(1)
  measurements.failed(new Error('the browser has been closed\nBrowser logs:\n\n/home/me/browser'))
  measurements.failed('as text\r\nof two lines')
  expect(measurements.result().errors).toEqual({ 'the browser has been closed': 1, 'as text': 1 })
})
