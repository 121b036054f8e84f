import { expect, it } from 'vitest'
import { resendBench } from './resend-bench.ts'

it('reads all that was stored, and answers newcomers while all idle links are taken', async () => {
  const report = await resendBench({ transports: ['websocket'], messages: 500, perBatch: 16 })
  expect(report).toMatchObject({
    websocket: { newcomers: { alone: { count: 20 }, idleLinks: 64, besideThem: { count: 20 } } },
  })
})
