import { describe, expect, it } from 'vitest'
import { createLatencyModel } from '../../latency/latency-model.ts'
import type { Conduct } from './conduct.ts'
import { runFairness } from './fairness-run.ts'

const nodes = 32
const subjects = new Set([3, 12, 21, 30])

/** Of one overlay it says little: it depends on where the subjects come to be. */
const seeds = ['1', '2', '3', '4']

async function meanRankOf(conduct: Conduct): Promise<number> {
  let sum = 0
  for (const seed of seeds) sum += await rankOf(conduct, seed)
  return sum / seeds.length
}

async function rankOf(conduct: Conduct, seed: string): Promise<number> {
  const model = createLatencyModel({ latency: 'aws', nodes, seed })
  const options = { seed, degree: 4, overlay: 'topology-aware', model, conduct, subjects } as const
  const hearings = await runFairness(options, () => {})
  expect(hearings.reduce((sum, { missed }) => sum + missed, 0)).toBe(0)
  const ranks = hearings.filter((_, index) => subjects.has(index)).map(({ rank }) => rank)
  return ranks.reduce((sum, rank) => sum + rank, 0) / ranks.length
}

describe('in topology-aware overlays', () => {
  it('who claims to be near to everybody hears no sooner', { timeout: 120_000 }, async () => {
    expect(await meanRankOf('near')).toBeGreaterThan((await meanRankOf('honest')) - 0.05)
  })
})
