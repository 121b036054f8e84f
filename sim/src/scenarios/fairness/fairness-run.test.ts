import { describe, expect, it } from 'vitest'
import { createLatencyModel } from '../../latency/latency-model.ts'
import type { Conduct } from './conduct.ts'
import { runFairness } from './fairness-run.ts'

const nodes = 32
const subjects = new Set([3, 12, 21, 30])

async function rankOf(conduct: Conduct): Promise<number> {
  const model = createLatencyModel({ latency: 'aws', nodes, seed: '1' })
  const options = { seed: '1', degree: 4, overlay: 'topology-aware', model, conduct, subjects } as const
  const hearings = await runFairness(options, () => {})
  expect(hearings.reduce((sum, { missed }) => sum + missed, 0)).toBe(0)
  const ranks = hearings.filter((_, index) => subjects.has(index)).map(({ rank }) => rank)
  return ranks.reduce((sum, rank) => sum + rank, 0) / ranks.length
}

describe('in topology-aware overlays', () => {
  it('who claims to be near to everybody hears no sooner', { timeout: 120_000 }, async () => {
    expect(await rankOf('near')).toBeGreaterThan((await rankOf('honest')) - 0.05)
  })
})
