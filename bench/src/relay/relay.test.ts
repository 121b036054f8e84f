import { expect, it } from 'vitest'
import { relayBench } from './relay-bench.ts'

it('has the floor of messages sent alone beside them', async () => {
  const { cpuUsPerMessage, baseline, ratio } = await relayBench({
    ...{ transport: 'websocket', verify: true, messages: 2_000 },
  })
  const { bareUs, verificationUs, us } = baseline.unbatchedFloor ?? { bareUs: 0, verificationUs: 0, us: 0 }
  expect(bareUs).toBe(baseline.bareUs)
  expect(us).toBeCloseTo(bareUs + verificationUs, 0)
  const unbatchedUs = 'verifiedUnbatched' in cpuUsPerMessage ? cpuUsPerMessage.verifiedUnbatched : 0
  expect(ratio.verifiedUnbatchedToFloor).toBeCloseTo(unbatchedUs / us, 1)
})
