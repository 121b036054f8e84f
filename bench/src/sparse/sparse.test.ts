import { expect, it } from 'vitest'
import { sparseBench } from './sparse-bench.ts'

it('sets a node that misses something everywhere beside one that misses nothing', async () => {
  const report = await sparseBench({ chains: 3, rangesPerChain: 20, maxSeconds: 60 })
  expect(report.sparse).toMatchObject({ messages: 60, rangesOpened: 57, rangesDropped: 0 })
  expect(report.baseline.dense).toMatchObject({ messages: 60, rangesOpened: 0 })
  expect(report.sparse.sentMiB).toBeCloseTo(report.baseline.dense.sentMiB, 3)
})
