import { expect, it } from 'vitest'
import { floodBench } from './flood-bench.ts'

it.each(['websocket', 'webrtc'] as const)('measures a small flood over %s, and ends', async (transport) => {
  const report = await floodBench({ transport, verify: true, nodes: 8, messages: 1280 })
  // Eight nodes with four neighbours have 16 edges: 32 ends, less two for each of the seven that a message reaches.
  expect(report.unbatched.duplicatesPerMessage).toBe(18)
  expect(report.baseline.duplicatesPerMessage).toBe(18)
  expect(report.ratio.cpuPerDelivery).toBeGreaterThan(0)
  const { unbatchedFloor } = report.baseline
  expect(unbatchedFloor).toMatchObject({ bareUs: expect.any(Number), verificationUs: expect.any(Number) })
  expect(report.ratio.unbatchedToFloor).toBeCloseTo(report.unbatched.cpuUsPerDelivery / unbatchedFloor.us, 1)
})
