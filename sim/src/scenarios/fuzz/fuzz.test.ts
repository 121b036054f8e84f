import { describe, expect, it } from 'vitest'
import { describeBreach } from '../../cli/fuzz-command.ts'
import { runFuzz } from './fuzz-run.ts'
import { runSeeds, runTwice } from './worlds.ts'

const seeds = Array.from({ length: 14 }, (_, i) => String(i + 1))

describe('worlds in which anything happens', () => {
  it.each(seeds)('keep what must always hold, with seed %s', async (seed) => {
    const report = await runFuzz(seed)
    expect(report.breach).toBeNull()
    expect(report.given).toBeGreaterThan(0)
  })

  it('are the same for the same seed, and others for others', async () => {
    const report = await runTwice('anything', '6', true)
    expect(report.breach).toBeNull()
    expect((await runFuzz('7')).traceHash).not.toBe(report.traceHash)
  })

  it('are so with an encrypted stream, whose readers open what comes', async () => {
    const report = await runTwice('anything', '3', true)
    expect(report.breach).toBeNull()
    expect(report.opened).toBeGreaterThan(0)
  })

  it('are so with light clients, whose hosts crash and withhold', { timeout: 120_000 }, async () => {
    const reports = await runSeeds({ world: 'guests', from: 1, seeds: 14 })
    expect(reports.filter(({ breach }) => breach !== null).map(describeBreach)).toEqual([])
    for (const { served } of reports) expect(served).toBeGreaterThan(0)
    expect(Math.max(...reports.map(({ blamed }) => blamed))).toBeGreaterThan(0)
  })

  it('say how to see a breach again', () => {
    const breach = { invariant: 'degree' as const, atMs: 1_234, detail: 'too many' }
    const text = describeBreach({ world: 'members', seed: '9', attackers: ['falseReports'], breach })
    expect(text).toBe(
      'seed 9 (members, falseReports): degree, at 1.234 s: too many\n  npm run -s sim -- fuzz --world members --from 9 --seeds 1',
    )
  })
})
