import { expect, it } from 'vitest'
import { OtherPackets } from './other-packets.ts'
import { PublisherRates } from './publisher-rates.ts'

it('other packets get what urgent ones leave of a rate that is known, and a little in any case', () => {
  const others = new OtherPackets()
  others.begin()
  expect(others.urgentShare(0)).toBe(1)
  others.sent(1_000, { kbitPerS: 1_000, isLimited: false }, 0, 0)
  expect([others.roomDueMs(0), others.roomBytes(0) > 0]).toEqual([Infinity, true])
  // 8,000 bits at 200 kbit/s, less what a late timer may make up for.
  others.sent(1_000, { kbitPerS: 1_000, isLimited: true }, 800, 0)
  expect([others.roomBytes(0), others.roomDueMs(0)]).toEqual([0, 35])
  expect(others.roomBytes(35)).toBeGreaterThan(0)
  others.sent(1_000, { kbitPerS: 1_000, isLimited: true }, 5_000, 100)
  expect(others.roomDueMs(100)).toBe(255)
  expect([others.urgentShare(1_000), others.urgentShare(1_100)]).toEqual([0.95, 1])
})

it('pings that are on their way count when urgent messages begin again', () => {
  const others = new OtherPackets()
  const rate = { kbitPerS: 1_000, isLimited: false }
  others.begin()
  others.sent(4_096, rate, 0, 0)
  others.probed(1, 0)
  others.begin()
  expect(others.answered(1, 50)).toBe(true)
  others.sent(4_096, rate, 0, 60)
  others.probed(2, 60)
  expect(others.answered(2, 90)).toBe(true)
  others.begin()
  expect(others.answered(2, 100)).toBe(false)
})

it('each publisher has what the others leave of a rate, and at least an equal part', () => {
  const rates = new PublisherRates(2)
  expect(rates.partOf('a', 900, 0)).toBe(900)
  for (let ms = 0; ms < 5_000; ms += 20) {
    rates.offered('a', 1_000, ms)
    rates.offered('b', 250, ms)
  }
  // 400 and 100 kbit/s.
  expect(rates.sum(5_000)).toBeGreaterThan(480)
  expect(rates.sum(5_000)).toBeLessThan(520)
  expect(Math.round(rates.partOf('a', 900, 5_000) / 20)).toBe(40)
  expect(Math.round(rates.partOf('b', 900, 5_000) / 20)).toBe(25)
  expect(rates.partOf('c', 600, 5_000)).toBe(200)
  // Of long ago nothing is left, and of three the one that was heard of last is not forgotten.
  expect(rates.partOf('b', 900, 20_000)).toBe(900)
  rates.offered('c', 250, 20_000)
  expect(rates.partOf('a', 900, 20_000)).toBeLessThan(900)
})
