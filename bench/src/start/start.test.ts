import { expect, it } from 'vitest'
import { startBench } from './start-bench.ts'

it('completes every network, with one tracker and with three', { timeout: 120_000 }, async () => {
  const report = await startBench({ networks: 2, trackers: 3, busy: 0, limitS: 20 })
  expect([report.completeMs.late, report.baseline.completeMs.late]).toEqual([0, 0])
})
