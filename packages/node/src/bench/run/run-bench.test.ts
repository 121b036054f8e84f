import { expect, it } from 'vitest'
import type { Target } from '../network/target.ts'
import { runBench, type BenchRun } from './run-bench.ts'

it('opens no generators, which nobody would stop, where users lack a gateway', async () => {
  let opened = 0
  const run = {
    request: { kind: 'http', parts: 1, history: 0 },
    target: { parts: [] } as unknown as Target,
    openGenerators: () => Promise.resolve([opened++]),
  } as unknown as BenchRun
  await expect(runBench(run)).rejects.toMatchObject({ code: 'BENCH_GATEWAY_MISSING' })
  expect(opened).toBe(0)
})
