import { describe, expect, it } from 'vitest'
import { Alarm } from './alarm.ts'
import { systemClock } from './system-clock.ts'

const setUp = () => {
  const { promise: due, resolve } = Promise.withResolvers<number>()
  const alarm = new Alarm({ onDue: () => resolve(systemClock.monotonicMs()) }, { clock: systemClock })
  return { alarm, due, inMs: (delayMs: number) => systemClock.monotonicMs() + delayMs }
}

describe('Alarm', () => {
  it.each([
    ['earlier', 86_400_000, 2],
    ['later', 1, 3],
  ])('goes off when it was last set to, also when that is %s', async (_, first, last) => {
    const { alarm, due, inMs } = setUp()
    alarm.set(inMs(first))
    const dueMs = inMs(last)
    alarm.set(dueMs)
    expect(alarm.dueMs).toBe(dueMs)
    // A timer of the system may be early by less than a millisecond.
    expect(await due).toBeGreaterThan(dueMs - 1)
    expect(alarm.dueMs).toBe(Infinity)
  })

  it('goes off at once when its time is over', async () => {
    const { alarm, due } = setUp()
    alarm.set(-Infinity)
    await due
    expect(alarm.dueMs).toBe(Infinity)
  })

  it('does not go off when it is turned off', async () => {
    const { alarm, due, inMs } = setUp()
    alarm.set(inMs(1))
    alarm.set(Infinity)
    const later = new Promise<string>((resolve) => systemClock.schedule(3, () => resolve('nothing')))
    expect(await Promise.race([due, later])).toBe('nothing')
  })
})
