import { describe, expect, it } from 'vitest'
import { DelayHistogram, summaryOf } from './histogram.ts'
import { mergeSamples } from './seconds.ts'

function of(delays: readonly number[]): DelayHistogram {
  const histogram = new DelayHistogram()
  for (const delay of delays) histogram.add(delay)
  return histogram
}

describe('DelayHistogram', () => {
  it('merges what others encoded, as if all had been added to one', () => {
    const [few, many] = [of([1, 2, 3]), of(Array.from({ length: 97 }, (_, i) => i + 4))]
    const merged = new DelayHistogram()
    for (const one of [few, many]) merged.merge(new DelayHistogram(one.encode()))
    const together = of(Array.from({ length: 100 }, (_, i) => i + 1))
    // Of what was encoded the largest is known to three digits only.
    expect({ ...summaryOf(merged), maxMs: 0 }).toEqual({ ...summaryOf(together), maxMs: 0 })
    expect(merged.percentileMs(50)).toBeCloseTo(50, 0)
    expect(merged.maxMs).toBeCloseTo(100, 0)
  })

  it('takes what clocks and stalls make of delays', () => {
    const histogram = of([-5, 3_600_000])
    expect(histogram.count).toBe(2)
    expect(histogram.percentileMs(1)).toBe(0)
    expect(histogram.maxMs).toBeCloseTo(600_000, -4)
  })

  it('has no summary when it is empty', () => {
    expect(summaryOf(new DelayHistogram())).toBeUndefined()
    expect(new DelayHistogram().percentileMs(50)).toBeNaN()
  })
})

describe('mergeSamples', () => {
  it('adds what generators sent and received, and names the busiest', () => {
    const sample = { published: 4, received: 20, delays: of([1]).encode(), cpuShare: 0.2 }
    const other = { published: 6, received: 30, delays: of([9]).encode(), cpuShare: 0.6 }
    expect(mergeSamples([sample, other], 3, 2)).toMatchObject({
      atS: 3,
      publishedPerS: 5,
      receivedPerS: 25,
      cpuShare: 0.6,
    })
    expect(mergeSamples([], 1, 1)).toMatchObject({ p50Ms: undefined, cpuShare: 0 })
  })
})
