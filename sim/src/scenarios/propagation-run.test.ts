import { expect, it } from 'vitest'
import { mean } from '../measures/statistics.ts'
import { processingMs } from './formation.ts'
import { runPropagation } from './propagation-run.ts'

it('compares delays with the direct ones from the same publishers', async () => {
  // Node 0 is far from the others, and all are neighbours: a message takes the direct way, whoever publishes.
  const oneWayMs = (from: number, to: number): number => (from === 0 || to === 0 ? 100 : 1)
  const options = { seed: '1', degree: 4, overlay: 'random', model: { nodes: 5, oneWayMs } } as const
  for (const messages of [1, 4]) {
    const { delaysMs, directMeanMs } = await runPropagation({ ...options, messages }, () => {})
    expect(delaysMs).toHaveLength(4 * messages)
    expect(directMeanMs).toBeCloseTo((mean(delaysMs) ?? 0) - processingMs)
  }
})
