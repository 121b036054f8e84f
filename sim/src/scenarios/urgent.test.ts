import { describe, expect, it } from 'vitest'
import { runUrgent, urgentDefaults } from './urgent.ts'

describe('urgent messages on lossy links beside a flooder', () => {
  it.each(['1', '2'])('of a voice come in time, and the ordinary ones all, with seed %s', async (seed) => {
    const report = await runUrgent({ ...urgentDefaults, seed })
    expect(report.ordinary.arrived).toBe(1)
    expect(report.voice.arrived).toBeGreaterThan(0.99)
    expect(report.voice.maxMs).toBeLessThanOrEqual(300)
    // Of 1,000 a second, 200 are its share, and a second's worth may come at once.
    expect(report.flooder.arrived).toBeLessThan(0.35)
    expect(report.urgentGaps).toBe(0)
  })
})
