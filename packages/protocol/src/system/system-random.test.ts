import { describe, expect, it } from 'vitest'
import { systemRandom } from './system-random.ts'

describe('systemRandom', () => {
  it('draws numbers from 0 to 1, none twice, beyond what it draws ahead', () => {
    const numbers = Array.from({ length: 5_000 }, () => systemRandom.next())
    expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true)
    expect(new Set(numbers).size).toBe(numbers.length)
    // Three in ten thousand million runs are farther from the mean.
    const mean = numbers.reduce((sum, number) => sum + number) / numbers.length
    expect(Math.abs(mean - 0.5)).toBeLessThan(6.5 * Math.sqrt(1 / 12 / numbers.length))
  })

  it('gives more bytes than the platform does at once', () => {
    const bytes = systemRandom.bytes(200_000)
    expect(bytes.length).toBe(200_000)
    expect(new Set(bytes.subarray(199_000)).size).toBeGreaterThan(200)
  })
})
