import { expect, it } from 'vitest'
import { coresBench } from './cores-bench.ts'

it('brings every message through the node, verified here or by workers', async () => {
  const few = { publishers: 40, messages: 400, besidePerS: 200, seconds: 1, rounds: 1 }
  const report = await coresBench(few)
  expect(report.oneCore.verifiedByWorkers).toBe(0)
  expect(report.twoCoresNoWorkers.verifiedByWorkers).toBe(0)
  expect(report.twoCores.verifiedByWorkers).toBeGreaterThan(0)
  for (const { quiet } of [report.oneCore, report.twoCores]) expect(quiet.p99Ms).toBeGreaterThan(0)
})
