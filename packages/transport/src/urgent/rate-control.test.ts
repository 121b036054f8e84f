import { describe, expect, it } from 'vitest'
import { RateControl } from './rate-control.ts'
import { meanOf, runLine } from './rate-line.testkit.ts'

const limits = { firstKbitPerS: 500, minKbitPerS: 50, maxKbitPerS: 100_000 }
const make = (): RateControl => new RateControl(limits)
/** Of source 002, with shorter phases. */
const falling = (ms: number): number => (ms >= 15_000 && ms < 35_000 ? 500 : 1_000)

describe('RateControl', () => {
  it.each([1, 50, 150, 300])(
    'follows a line of %s ms one way down and up, and lets little wait',
    (oneWayMs) => {
      const samples = runLine(make(), { kbitPerS: falling, oneWayMs, untilMs: 60_000 })
      const [before, low, after] = [
        meanOf(samples, 8_000, 15_000),
        meanOf(samples, 20_000, 35_000),
        meanOf(samples, 41_000, 60_000),
      ]
      for (const [{ kbitPerS }, line] of [
        [before, 1_000],
        [low, 500],
        [after, 1_000],
      ] as const)
        expect(kbitPerS / line).toBeGreaterThan(0.85)
      for (const { waitedMs } of [before, low, after])
        expect(waitedMs).toBeLessThan(oneWayMs < 300 ? 60 : 150)
      // At nine tenths again 5 s after the line is, and one round trip.
      const back = samples.filter(({ ms }) => ms > 35_000 && ms <= 40_000 + 2 * oneWayMs)
      expect(Math.max(...back.map(({ rateKbitPerS }) => rateKbitPerS))).toBeGreaterThan(900)
    },
  )

  it('finds a line of 20 Mbit/s within two seconds', () => {
    const samples = runLine(make(), {
      ...{ kbitPerS: () => 20_000, oneWayMs: 10, untilMs: 4_000, queueBytes: 1_000_000 },
    })
    expect(meanOf(samples, 2_000, 4_000).kbitPerS).toBeGreaterThan(16_000)
  })

  it('is not taken in by the losses of a radio, and goes down where a short queue loses', () => {
    const radio = runLine(make(), { kbitPerS: () => 1_000, oneWayMs: 20, lossRate: 0.03, untilMs: 30_000 })
    expect(meanOf(radio, 5_000, 30_000).kbitPerS).toBeGreaterThan(850)
    const rate = make()
    runLine(rate, { kbitPerS: () => 1_000, oneWayMs: 20, queueBytes: 1, untilMs: 30_000 })
    expect(rate.kbitPerS).toBeLessThan(1_600)
  })

  it('bears a peer for whom no time passes', () => {
    const rate = make()
    const arrived = Array.from({ length: 1_000 }, () => ({
      ...{ sentMs: 0, arrivedMs: 5, bytes: 100, isOther: false },
    }))
    for (let report = 0; report < 150; report++) rate.feedback({ arrived, lost: 0, rttMs: 10 }, report * 20)
    expect(rate.kbitPerS).toBeGreaterThanOrEqual(limits.minKbitPerS)
    expect(rate.kbitPerS).toBeLessThanOrEqual(limits.maxKbitPerS)
  })

  it('does not grow for what nobody sends', () => {
    const rate = make()
    runLine(rate, { kbitPerS: () => 10_000, oneWayMs: 20, sendsKbitPerS: 100, untilMs: 30_000 })
    expect(rate.kbitPerS).toBe(limits.firstKbitPerS)
  })

  it('keeps what it carries where what waits is of a busy machine, as less of it makes no difference', () => {
    // A turn of the receiver takes 5 to 25 ms at first, then up to 150, and shows what came in the turn before.
    const turns: number[] = [0]
    for (let i = 0, chance = 7; (turns.at(-1) ?? 0) < 70_000; i++) {
      chance = (chance * 48_271) % 2_147_483_647
      const atMs = turns.at(-1) ?? 0
      turns.push(atMs + (atMs < 10_000 ? 5 + (chance % 20) : 50 + (chance % 100)))
    }
    const noticedMs = (ms: number): number => turns[turns.findIndex((atMs) => atMs > ms) + 1] ?? ms
    const line = { kbitPerS: () => 10_000, oneWayMs: 1, wantsKbitPerS: 800, queueBytes: 1_000_000 }
    const samples = runLine(make(), { ...line, noticedMs, untilMs: 60_000 })
    expect(meanOf(samples, 12_000, 60_000).kbitPerS).toBeGreaterThan(700)
  })

  it('halves, down to the least, while nothing is heard', () => {
    const rate = make()
    for (const expected of [250, 125, 62.5, 50, 50]) {
      rate.starved(1)
      expect(rate.kbitPerS).toBe(expected)
    }
    rate.feedback({ arrived: [], lost: 3, rttMs: 10 }, 2)
    expect(rate.kbitPerS).toBe(50)
  })

  it('counts other frames as carried, and does not look at their delay', () => {
    const rate = make()
    // Half of what comes, each later than the one before: only what is urgent says that nothing waits.
    for (let i = 1; i < 200; i++) {
      const urgent = { sentMs: i * 50, arrivedMs: i * 50 + 10, bytes: 3_000, isOther: false }
      const other = { sentMs: i * 50, arrivedMs: i * 50 + 20, bytes: 3_000, isOther: true }
      rate.feedback({ arrived: [urgent, { ...other, sentMs: i * 25 }], lost: 0, rttMs: 20 }, i * 50)
    }
    expect(rate.isLimited).toBe(false)
    expect(rate.kbitPerS).toBeGreaterThan(1_500)
  })
})
