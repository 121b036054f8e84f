import { describe, expect, it } from 'vitest'
import { HeadsSchedule } from './heads-schedule.ts'

const limits = { headsIntervalMs: 100, maxRecentAgeMs: 30_000 }

/** Lets time pass in steps of 10 ms; when the chains, by when they were last used, are told. */
function run(schedule: HeadsSchedule, used: (nowMs: number) => readonly number[], untilMs: number) {
  const told: (readonly [atMs: number, usedMs: readonly number[]])[] = []
  for (let nowMs = 0; nowMs <= untilMs; nowMs += 10) {
    if (used(nowMs).includes(nowMs)) schedule.news(nowMs)
    const isDue = schedule.take(nowMs)
    if (isDue !== undefined)
      told.push([nowMs, used(nowMs).filter((usedMs) => usedMs <= nowMs && isDue(usedMs) !== undefined)])
  }
  return told.filter(([, chains]) => chains.length > 0)
}

describe('HeadsSchedule', () => {
  it('tells a chain ever more rarely, until nothing of it could be sent again', () => {
    const told = run(new HeadsSchedule(limits), () => [0], 100_000)
    expect(told.map(([atMs]) => atMs)).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600])
  })

  it('tells each chain at its own ages, whatever else comes', () => {
    // One chain a while ago, and one that has a message every 50 ms.
    const busy = (nowMs: number) => Math.floor(nowMs / 50) * 50
    const told = run(new HeadsSchedule(limits), (nowMs) => [0, Math.max(10, busy(nowMs))], 10_000)
    const ofOld = told.filter(([, chains]) => chains.includes(0)).map(([atMs]) => atMs)
    expect(ofOld).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400])
    expect(told.length).toBeGreaterThanOrEqual(99)
  })

  it('says no more for many chains than each has to say', () => {
    // A message every 400 ms, each of another publisher.
    const chains = Array.from({ length: 64 }, (_, index) => index * 400)
    const told = run(new HeadsSchedule(limits), (nowMs) => chains.filter((usedMs) => usedMs <= nowMs), 60_000)
    const tellings = told.reduce((sum, [, some]) => sum + some.length, 0)
    expect(tellings).toBeLessThanOrEqual(64 * 10)
  })
})
