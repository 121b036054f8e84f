import { describe, expect, it } from 'vitest'
import { createLatencyModel } from '../latency/latency-model.ts'
import { watchConvergence } from './convergence.ts'

const cases = ['random', 'topology-aware'].flatMap((overlay) =>
  ['aws', 'aws-lastmile'].flatMap((latency) => ['1', '2', '3'].map((seed) => ({ overlay, latency, seed }))),
)

describe('while nodes join and their overlay improves itself', () => {
  it.each(cases)(
    'no node is ever short of neighbours or cut off ($overlay, $latency, seed $seed)',
    async ({ overlay, latency, seed }) => {
      const seen = await watchConvergence({
        seed,
        degree: 4,
        overlay: overlay === 'random' ? 'random' : 'topology-aware',
        model: createLatencyModel({ latency, nodes: 64, seed }),
        joiningMs: 10_000,
        watchedMs: 60_000,
      })
      expect(seen.changes).toBeGreaterThan(overlay === 'random' ? 400 : 1_200)
      expect(seen).toMatchObject({ short: 0, cutOff: 0 })
    },
  )
})
