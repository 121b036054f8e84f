import { expect, it } from 'vitest'
import { gatewayBench } from './gateway-bench.ts'

it('measures HTTP and WebSocket beside the SDK, and idle readers', { timeout: 120_000 }, async () => {
  const options = { nodes: 4, rounds: 2, paced: 20, messages: 500, idle: 50, idleS: 0.5, limitS: 100 }
  const report = await gatewayBench(options)
  expect(report).toMatchObject({ bench: 'gateway', nodes: 4, idle: { connections: 50 } })
  expect(report.http.rateRatioOfEachRound).toHaveLength(2)
  for (const { messagesPerS, p50Ms } of [report.baseline, report.http, report.webSocket]) {
    expect(messagesPerS).toBeGreaterThan(0)
    expect(p50Ms).toBeGreaterThan(0)
  }
})
