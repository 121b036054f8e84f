import { expect, it } from 'vitest'
import { mqttBench } from './mqtt-bench.ts'

it('measures gateways', { timeout: 120_000 }, async () => {
  const size = {
    nodes: 4,
    ratePerS: 200,
    seconds: 1,
    warmUpS: 1,
    messages: 2_000,
    idle: 50,
    busy: 10,
    mosquitto: false,
  }
  const report = await mqttBench({ ...size, limitS: 100 })
  expect(report).toMatchObject({
    ...{ bench: 'mqtt', nodes: 4, refusedOrDropped: 0, baseline: undefined },
    delay: { messages: 200, lost: 0, outOfOrder: 0 },
    throughput: { messages: 2_000, outOfOrder: 0 },
    connections: { idle: 50, busy: 10, lost: 0 },
  })
  expect(report.delay?.p50Ms).toBeGreaterThan(0)
})
