import { seededRandom } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { seriesOf, type Sample } from './samples.ts'
import { trendOf } from './trend.ts'

const mib = 2 ** 20
const everyMs = 10_000

/** An hour of samples of a heap. */
function trend(valueAt: (hour: number, noise: number) => number, samples = 360) {
  const random = seededRandom('soak')
  const points: Sample[] = Array.from({ length: samples }, (_, index) => {
    const atMs = index * everyMs
    return { atMs, heapBytes: valueAt(atMs / 3_600_000, random.next() - 0.5) }
  })
  const [series] = seriesOf('node', points)
  if (series === undefined) throw new Error('no series')
  return trendOf(series)
}

describe('the trend of a series', () => {
  it('is found under noise ten times as large', () => {
    const found = trend((hour, noise) => (50 + 6 * hour + 60 * noise) * mib)
    expect(found?.lowPerHour).toBeLessThan(6 * mib)
    expect(found?.highPerHour).toBeGreaterThan(6 * mib)
  })

  it.each([
    ['a leak of 8 MiB an hour', (hour: number, noise: number) => 50 + 8 * hour + 2 * noise, 'grows'],
    ['noise alone', (_: number, noise: number) => 50 + 2 * noise, 'steady'],
    ['a cache that is full after ten minutes', (hour: number) => 50 + Math.min(hour, 1 / 6) * 60, 'steady'],
    ['noise that hides it', (_: number, noise: number) => 50 + 200 * noise, 'unclear'],
    ['less and less', (hour: number) => 50 - 8 * hour, 'steady'],
  ] as const)('%s', (_, valueAt, verdict) => {
    expect(trend((hour, noise) => valueAt(hour, noise) * mib)?.verdict).toBe(verdict)
  })

  it('needs samples', () => {
    expect(trend(() => mib, 12)).toBeUndefined()
  })
})
