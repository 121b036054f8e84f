import { expect, it } from 'vitest'
import { Phases } from './phases.ts'

it('keeps when each phase was reached first, and tells once', () => {
  let nowMs = 1_000
  const told: [string, number][] = []
  const phases = new Phases({ monotonicMs: () => nowMs })
  phases.onReached = (phase, afterMs) => told.push([phase, afterMs])
  expect(phases.times).toEqual({})
  nowMs += 5
  phases.reach('registry')
  nowMs += 7
  phases.reach('tracker')
  nowMs += 100
  phases.reach('tracker')
  expect(phases.times).toEqual({ registry: 5, tracker: 12 })
  expect(told).toEqual([
    ['registry', 5],
    ['tracker', 12],
  ])
})
