import { expect, it } from 'vitest'
import { publishBench } from './publish-bench.ts'

it('publishes in every way, and everything arrives in order', { timeout: 120_000 }, async () => {
  const report = await publishBench({ messages: 1_000, limitS: 100 })
  expect(report).toMatchObject({ unawaited: { messages: 1_000 }, oneByOne: { messages: 100 } })
  expect(report.ratio.bareToMany).toBeGreaterThan(0)
})
