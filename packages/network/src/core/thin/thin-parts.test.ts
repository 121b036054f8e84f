import { describe, expect, it } from 'vitest'
import { idOf } from '../core.testkit.ts'
import { AnnouncedBatches } from './announced-batches.ts'
import { Lateness } from './lateness.ts'
import { Pace } from './pace.ts'

const place = (timestamp: number) => ({ timestamp, sequenceNumber: 0 })

describe('the pace of a chain', () => {
  /** After how many batches at a rate it is fast; undefined for never. */
  const fastAfter = (perS: number): number | undefined => {
    const pace = new Pace(4)
    for (let i = 1; i <= 200; i++) if (pace.add((i * 1000) / perS)) return i
    return undefined
  }
  it('is fast from a rate on, after a few batches', () => {
    expect([2, 3].map(fastAfter)).toEqual([undefined, undefined])
    expect(fastAfter(10)).toBeLessThan(10)
    expect(fastAfter(1000)).toBeLessThan(10)
  })
  it('is not fast any more after a pause', () => {
    const pace = new Pace(4)
    for (let i = 0; i < 50; i++) pace.add(i * 100)
    expect([pace.isFast(5_000), pace.isFast(8_000)]).toEqual([true, false])
  })
})

describe('lateness', () => {
  it('is unknown at first, and then what is rarely exceeded', () => {
    const lateness = new Lateness()
    expect(lateness.boundMs).toBeUndefined()
    for (let i = 0; i < 100; i++) lateness.add(i % 2 === 0 ? 40 : 60)
    expect(lateness.boundMs).toBeGreaterThan(60)
    expect(lateness.boundMs).toBeLessThan(110)
  })
})

describe('announced batches', () => {
  it('are known by who has them, until they come', () => {
    const batches = new AnnouncedBatches(8)
    for (const peer of [2, 3, 2]) batches.add(place(1), idOf(peer), { nowMs: 5, dueMs: 30 })
    expect(batches.due(29)).toEqual([])
    expect(batches.due(30)).toHaveLength(1)
    expect(batches.take(place(1))).toMatchObject({ sinceMs: 5, peerIds: [idOf(2), idOf(3)] })
    expect([batches.take(place(1)), batches.dueMs]).toEqual([undefined, Infinity])
  })
  it('are so many, the newest, and none of those who are gone', () => {
    const batches = new AnnouncedBatches(8)
    const kept = Array.from({ length: 20 }, (_, i) =>
      batches.add(place(i), idOf(2), { nowMs: i, dueMs: i + 30 }),
    )
    expect(kept.filter((isRoom) => isRoom)).toHaveLength(8)
    expect([batches.dueMs, batches.take(place(11))]).toEqual([42, undefined])
    batches.gone(idOf(2))
    expect(batches.take(place(19))?.peerIds).toEqual([])
  })
})
