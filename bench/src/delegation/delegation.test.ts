import { expect, it } from 'vitest'
import { delegationBench } from './delegation-bench.ts'

it('sets delegates beside users that sign themselves', async () => {
  const report = await delegationBench({ nodes: 4, messages: 640, rounds: 1, delegations: 100, limitS: 60 })
  expect(report.delegated.cpuUsPerDelivery).toBeGreaterThan(0)
  expect(report.baseline.cpuUsPerDelivery).toBeGreaterThan(0)
  expect(report.ratio.flood).toBeGreaterThan(0)
})
