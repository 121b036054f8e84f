import { expect, it } from 'vitest'
import { delegationBench } from './delegation-bench.ts'
import { compared, pairs } from './pairs.ts'

it('sets delegates beside users that sign themselves', { timeout: 100_000 }, async () => {
  const size = { nodes: 4, messages: 640, rounds: 1, joins: 1, delegations: 10_000 }
  const { memory, ...report } = await delegationBench({ transport: 'websocket', ...size })
  const { startMs, firstMessageMs, joinMs } = report
  const { floodCpuUsPerDelivery, floodUnbatchedCpuUsPerDelivery } = report
  const { relayCpuUsPerMessage, relayUnbatchedCpuUsPerMessage } = report
  for (const { delegated, own, ratio } of [
    ...[startMs, firstMessageMs, joinMs],
    ...[floodCpuUsPerDelivery, floodUnbatchedCpuUsPerDelivery],
    ...[relayCpuUsPerMessage, relayUnbatchedCpuUsPerMessage],
  ]) {
    expect(Math.min(delegated, own)).toBeGreaterThan(0)
    expect(ratio).toBeCloseTo(delegated / own, 1)
  }
  expect(memory.bytesPerDelegation).toBeGreaterThan(100)
  expect(memory.bytesPerDelegation).toBeLessThan(500)
})

it('runs the two of a pair in turn, each first every other time, and takes the median of the ratios', async () => {
  const runs: boolean[] = []
  const costs = [2, 1, 4, 9, 3, 1]
  const all = await pairs('costs', 3, async (delegated) => costs[runs.push(delegated) - 1] ?? 0)
  expect(runs).toEqual([true, false, false, true, true, false])
  expect(all.map(({ delegated, own }) => [delegated, own])).toEqual([
    ...[
      [2, 1],
      [9, 4],
      [3, 1],
    ],
  ])
  expect(compared(all, (cost) => cost)).toEqual({ delegated: 3, own: 1, ratio: 2.25 })
})
