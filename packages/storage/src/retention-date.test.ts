import { VirtualClock } from '@runnel/transport'
import { expect, it } from 'vitest'
import { RetentionDate } from './retention-date.ts'
import { storageLimits } from './storage-limits.ts'

const { maxClockLeadMs, clockBelievedAfterMs } = storageLimits
const minuteMs = 60_000
const yearMs = 365 * 86_400_000

/** A date by a clock that can be set wrong, over restarts. */
async function open(newestMs = 0) {
  const clock = new VirtualClock()
  const marks = new Map<string, string>()
  const ahead: number[] = []
  const store = {
    getMark: async (name: string) => marks.get(name),
    setMark: async (name: string, value: string) => void marks.set(name, value),
    usage: async () => (newestMs === 0 ? [] : [{ newestMs } as never]),
  }
  let date: RetentionDate
  const restart = async () => {
    date = new RetentionDate(
      { nodeId: '0x1', limits: storageLimits },
      { store, clock, onAhead: (leadMs) => ahead.push(leadMs) },
    )
    await date.begin()
  }
  await restart()
  return {
    ...{ clock, ahead, restart },
    /** How far the clock is ahead of the date. */
    leadMs: () => clock.now() - date.nowMs(),
    look: () => date.look(),
    async run(forMs: number) {
      for (let ranMs = 0; ranMs < forMs; ranMs += minuteMs) {
        clock.advanceBy(minuteMs)
        await date.look()
      }
    },
  }
}

it('does not follow a clock that goes ahead and is set right, and says so once, also over a restart', async () => {
  const { clock, ahead, restart, leadMs, run } = await open()
  await run(10 * minuteMs)
  clock.moveWall(yearMs)
  expect(leadMs()).toBe(yearMs)
  await run(clockBelievedAfterMs / 2)
  await restart()
  expect(leadMs()).toBe(yearMs)
  expect(ahead).toEqual([yearMs])
  clock.moveWall(-yearMs)
  await run(minuteMs)
  expect(leadMs()).toBe(0)
  clock.moveWall(yearMs)
  await run(clockBelievedAfterMs - minuteMs)
  expect(leadMs()).toBe(yearMs)
})

it('believes a clock that says so for long enough, in all runs together', async () => {
  const { clock, restart, leadMs, run } = await open()
  await run(minuteMs)
  // It was off.
  clock.moveWall(60 * 86_400_000)
  await restart()
  await run(clockBelievedAfterMs / 2)
  clock.moveWall(16 * 3_600_000)
  await restart()
  expect(leadMs()).toBeGreaterThan(60 * 86_400_000)
  await run(clockBelievedAfterMs / 2 + minuteMs)
  expect(leadMs()).toBe(0)
})

it('follows a clock that is set by less, or back', async () => {
  const { clock, ahead, leadMs, run } = await open()
  clock.moveWall(maxClockLeadMs)
  expect(leadMs()).toBe(0)
  await run(minuteMs)
  clock.moveWall(-yearMs)
  expect(leadMs()).toBe(0)
  await run(minuteMs)
  expect(leadMs()).toBe(0)
  expect(ahead).toEqual([])
})

it('begins with the newest message, where nothing is noted', async () => {
  const { clock, leadMs, run } = await open(new VirtualClock().now() - yearMs)
  expect(leadMs()).toBe(yearMs)
  clock.moveWall(-yearMs)
  await run(minuteMs)
  expect(leadMs()).toBe(0)
})
