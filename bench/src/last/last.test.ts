import { expect, it } from 'vitest'
import { lastBench } from './last-bench.ts'

it('asks neighbours for values that they keep, joined and not', { timeout: 120_000 }, async () => {
  const report = await lastBench({ members: 4, keys: 20, joins: 3, limitS: 100 })
  expect(report).toMatchObject({ joined: { samples: 30 }, notJoined: { samples: 3 } })
  expect(report.joined.p50Ms).toBeGreaterThan(0)
})
