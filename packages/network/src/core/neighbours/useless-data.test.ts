import { describe, expect, it } from 'vitest'
import { UselessData } from './useless-data.ts'

const limits = {
  maxUselessData: 100,
  uselessDataPerS: 10,
  uselessGraceMs: 5_000,
  maxUselessGraceMs: 60_000,
  maxUselessBacklogBytes: 1_000,
}
const idle = { queuedBytes: 0, rttMs: 40 }
const slow = { queuedBytes: 1, rttMs: 40 }

/** How many packets of so many bytes it takes, one after each pause, until there are too many; of at most `most`. */
function taken(
  useless: UselessData,
  fromMs: number,
  { everyMs = 0, bytes = 100, most = 10_000, link = idle },
) {
  for (let n = 0; n < most; n++) if (useless.isTooMuch(bytes, link, fromMs + n * everyMs)) return n
  return most
}

describe('useless data', () => {
  it('is too much when it comes in a flood', () => {
    expect(taken(new UselessData(limits, 0), 5_000, { everyMs: 1 })).toBe(101)
  })

  it('may stray for weeks', () => {
    expect(taken(new UselessData(limits, 0), 5_000, { everyMs: 100 })).toBe(10_000)
    expect(taken(new UselessData(limits, 0), 5_000, { everyMs: 90 })).toBeLessThan(2_000)
  })

  it('is explained as long as a detach may wait in the queue, and a round trip longer', () => {
    const useless = new UselessData({ ...limits, maxUselessData: 0, maxUselessBacklogBytes: 0 }, 0)
    useless.detached(10_000)
    expect(taken(useless, 10_000, { everyMs: 1_000, most: 20, link: slow })).toBe(20)
    expect(useless.isTooMuch(100, { queuedBytes: 0, rttMs: 8_000 }, 41_999)).toBe(false)
    expect(useless.isTooMuch(100, { queuedBytes: 0, rttMs: 8_000 }, 42_000)).toBe(true)
  })

  it('is explained no longer than a detach takes at most, though the peer keeps the queue from becoming empty', () => {
    const useless = new UselessData({ ...limits, maxUselessBacklogBytes: 0 }, 0)
    useless.detached(10_000)
    expect(taken(useless, 10_000, { everyMs: 1, most: 100_000, link: slow })).toBe(60_000 + 101)
    const opened = new UselessData(limits, 0)
    expect(taken(opened, 0, { everyMs: 1, link: slow })).toBe(5_000 + 101)
  })

  it('is explained after a detach by what the peer had queued, however slowly that comes, and once', () => {
    const useless = new UselessData({ ...limits, maxUselessData: 0 }, 0)
    useless.detached(10_000)
    expect(taken(useless, 100_000, { everyMs: 60_000 })).toBe(10)
    useless.detached(1_000_000)
    expect(taken(useless, 1_060_000, {})).toBe(10)
  })
  it('is explained after a detach of the peer by what it had sent before, and once', () => {
    const useless = new UselessData({ ...limits, maxUselessData: 0 }, 0)
    useless.departed()
    expect(taken(useless, 100_000, { everyMs: 60_000 })).toBe(10)
  })
})
