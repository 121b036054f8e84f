import { describe, expect, it } from 'vitest'
import { createLatencyHistogram } from './latency-histogram.ts'

describe('createLatencyHistogram', () => {
  it('has nothing to say before the first value', () => {
    expect(createLatencyHistogram().summary()).toBeUndefined()
  })

  it('gives percentiles within a thousandth', () => {
    const histogram = createLatencyHistogram()
    for (let ms = 1; ms <= 1000; ms++) histogram.record(ms)
    const { p50, p99, max } = histogram.summary() ?? { p50: 0, p99: 0, max: 0 }
    expect(p50 / 500).toBeCloseTo(1, 2)
    expect(p99 / 990).toBeCloseTo(1, 2)
    expect(max / 1000).toBeCloseTo(1, 2)
  })

  it('takes values no latency can have', () => {
    const histogram = createLatencyHistogram()
    for (const value of [-5, 0, 1e12]) histogram.record(value)
    expect(histogram.summary()).toMatchObject({ p50: 0 })
  })
})
