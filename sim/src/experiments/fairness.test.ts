import { describe, expect, it } from 'vitest'
import { conducts } from '../scenarios/fairness/conduct.ts'
import type { ExperimentOptions } from './experiment.ts'
import { fairness, subjectsOf } from './fairness.ts'

const options: ExperimentOptions = {
  nodes: 16,
  degree: 4,
  overlay: 'random',
  latency: 'aws',
  seed: '1',
  repeats: 1,
}

interface Report {
  readonly regions: readonly { readonly group: string; readonly rank: number; readonly ratio: number }[]
  readonly ages: readonly { readonly group: string; readonly nodes: number; readonly rank: number }[]
  readonly conducts: readonly {
    readonly conduct: string
    readonly rank: number
    readonly gain: number
    readonly missed: number
  }[]
}

describe('fairness', () => {
  it('says who hears first: by region, by age, by conduct', { timeout: 120_000 }, async () => {
    const { report, text } = await fairness.run(options, () => {})
    const { regions, ages, conducts: rows } = report as Report
    expect(regions).toHaveLength(16)
    expect(ages.map(({ nodes }) => nodes)).toEqual([4, 4, 4, 4])
    const meanRank = regions.reduce((sum, { rank }) => sum + rank, 0) / 16
    expect(meanRank).toBeCloseTo(0.5, 1)
    // Nobody hears sooner than the underlay carries, on average.
    for (const { ratio } of regions) expect(ratio).toBeGreaterThanOrEqual(1)
    expect(rows.map(({ conduct }) => conduct)).toEqual(conducts)
    expect(rows[0]).toMatchObject({ conduct: 'honest', gain: 0 })
    for (const row of rows) expect(row).toMatchObject({ missed: 0 })
    expect(text).toContain('eu-central-1')
    expect((await fairness.run(options, () => {})).report).toEqual(report)
  })

  it('puts nodes of all regions and all ages to the test', () => {
    const subjects = [...subjectsOf(128)]
    expect(new Set(subjects.map((index) => index % 16)).size).toBe(16)
    expect(subjects.map((index) => Math.floor(index / 8))).toEqual(Array.from({ length: 16 }, (_, k) => k))
  })
})
