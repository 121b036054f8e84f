import { expect, it } from 'vitest'
import { UpperRenditions } from './upper-renditions.ts'

/** Told every 250 ms, from after one time until the other: when it changed. */
function changes(upper: UpperRenditions, isBusy: boolean, fromMs: number, untilMs: number): number[] {
  const changed: number[] = []
  for (let nowMs = fromMs + 250; nowMs <= untilMs; nowMs += 250)
    if (upper.told(isBusy, nowMs)) changed.push(nowMs)
  return changed
}

it('are left out as long as the computer is busy, and tried again later each time', () => {
  const upper = new UpperRenditions()
  expect(changes(upper, false, 0, 60_000)).toEqual([])
  expect(changes(upper, true, 60_000, 70_000)).toEqual([60_250])
  expect(upper.areLeftOut).toBe(true)
  expect(changes(upper, false, 70_000, 90_000)).toEqual([80_250])
  expect(upper.areLeftOut).toBe(false)
  expect(changes(upper, true, 90_000, 91_000)).toEqual([90_250])
  expect(changes(upper, false, 91_000, 101_000)).toEqual([])
  // A moment of trouble, and the time begins anew.
  expect(changes(upper, true, 101_000, 101_250)).toEqual([])
  expect(changes(upper, false, 101_250, 131_250)).toEqual([121_500])
})
