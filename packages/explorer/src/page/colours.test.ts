import { describe, expect, it } from 'vitest'
import { mixed, palettes, rttColours, rttScale, rttStep, rttSteps } from './colours.ts'

describe('the scale of round-trip times', () => {
  it('fits what was measured', () => {
    const scale = rttScale(Array.from({ length: 101 }, (_, n) => n + 1))
    expect(scale).toEqual({ shortMs: 6, longMs: 96 })
    expect(rttStep(1, scale)).toBe(0)
    expect(rttStep(24, scale)).toBe(rttSteps / 2)
    expect(rttStep(5_000, scale)).toBe(rttSteps - 1)
  })

  it('is one even where all is alike, or nothing known', () => {
    expect(rttScale([2, 2, 2])).toEqual({ shortMs: 2, longMs: 8 })
    const { shortMs, longMs } = rttScale([])
    expect(longMs).toBeGreaterThan(shortMs)
    expect(rttStep(0, rttScale([0, 0]))).toBe(0)
  })

  it('has a colour for each step', () => {
    expect(mixed('#000000', '#ffffff', 0.5)).toBe('#808080')
    for (const palette of Object.values(palettes)) {
      const colours = rttColours(palette)
      expect(new Set(colours).size).toBe(rttSteps)
      expect([colours.at(0), colours.at(-1)]).toEqual([palette.rtt[0], palette.rtt[2]])
    }
  })
})
