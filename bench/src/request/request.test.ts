import { expect, it } from 'vitest'
import { requestBench } from './request-bench.ts'

it('measures requests beside messages one way', { timeout: 120_000 }, async () => {
  const report = await requestBench({ nodes: 4, overlays: 2, requests: 20, limitS: 100 })
  expect(report).toMatchObject({ bench: 'request', nodes: 4, overlays: 2, requests: 20 })
  expect(report.overTwoWaysP50MsOfEach).toHaveLength(2)
  expect(report.baseline.p50Ms).toBeGreaterThan(0)
  // A reply cannot be there before the request was.
  expect(report.request.p50Ms).toBeGreaterThan(report.baseline.p50Ms)
})
