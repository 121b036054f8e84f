import { describe, expect, it } from 'vitest'
import { oneLinkDefaults, runOneLink } from './one-link.ts'

describe('one link that loses frames', () => {
  it.each(['1', '2', '3'])('is made good for by the neighbours in time, with seed %s', async (seed) => {
    const report = await runOneLink({ ...oneLinkDefaults, seed })
    expect(report).toMatchObject({ delivered: report.expected, outOfOrder: 0, duplicates: 0 })
    expect(report.fillTimes.samples).toBeGreaterThan(report.expected / 10)
    expect(report.fillTimes.p95Ms).toBeLessThanOrEqual(report.boundMs)
    expect(report.archiveAsked).toBe(0)
  })
})
