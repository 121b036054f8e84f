import { describe, expect, it } from 'vitest'
import { fallingLine, runRate, type RateReport } from './rate.ts'

const picturesIn = ({ seconds }: RateReport, from: number, to: number): number =>
  seconds.slice(from, to).reduce((sum, { pictureKbitPerS }) => sum + pictureKbitPerS, 0) / (to - from)

/** As source 002, with phases of 10 s. */
const kbitPerS = (second: number): number => fallingLine(second < 10 ? 0 : second < 20 ? 30 : 60)

describe('a camera that follows its link', () => {
  it.each([
    { latencyMs: 1, bulk: false },
    { latencyMs: 50, bulk: false },
    { latencyMs: 50, bulk: true },
  ])('of $latencyMs ms, with others: $bulk', async ({ latencyMs, bulk }) => {
    const report = await runRate({ seed: '1', latencyMs, bulk, relayed: false, kbitPerS, seconds: 30 })
    // Of the line, without what a message costs beside its picture.
    expect(picturesIn(report, 4, 10)).toBeGreaterThan(700)
    expect(picturesIn(report, 14, 20)).toBeGreaterThan(300)
    expect(picturesIn(report, 25, 30)).toBeGreaterThan(700)
    const back = report.seconds.slice(20, 25).map(({ toldKbitPerS }) => toldKbitPerS)
    expect(Math.max(...back)).toBeGreaterThan(bulk ? 840 : 900)
    const steady = [...report.seconds.slice(4, 10), ...report.seconds.slice(25)]
    for (const { waitedP95Ms } of steady) expect(waitedP95Ms).toBeLessThan(250)
    expect(report.arrived.base).toBeGreaterThan(0.98)
    expect(report.bulkIsWhole).toBe(true)
  })

  it('is relayed in its lower layers where a further line carries less', async () => {
    const options = { seed: '1', latencyMs: 20, bulk: false, relayed: true, seconds: 20 }
    const { arrived, seconds, shed } = await runRate({ ...options, kbitPerS: () => 1_000 })
    expect(seconds.at(-1)?.toldKbitPerS).toBeGreaterThan(1_500)
    expect(arrived.base).toBeGreaterThan(0.95)
    expect(arrived.base).toBeGreaterThan(arrived.middle)
    expect(arrived.middle).toBeGreaterThan(arrived.top)
    expect(shed).toBeGreaterThan(20)
  })
})
