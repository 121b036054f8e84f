import { expect, it } from 'vitest'
import { programBench } from './program-bench.ts'

it('measures the command line, whose message arrives', { timeout: 120_000 }, async () => {
  const report = await programBench({ runs: 1 })
  expect(report).toMatchObject({ bench: 'program', runs: 1, baseline: { what: 'node -e 0' } })
  expect(JSON.stringify(report)).not.toMatch(/null/)
})
