import { expect, it } from 'vitest'
import { urgentBench } from './urgent-bench.ts'

it.each([
  { transport: 'websocket', lossRate: 0 },
  { transport: 'webrtc', lossRate: 0.01 },
] as const)(
  'urgent messages come before what waits on a slow line by $transport',
  { timeout: 120_000 },
  async (link) => {
    const line = { kbitPerS: 8_000, oneWayMs: 20 }
    const report = await urgentBench({ ...link, ...line, messages: 100, limitS: 100 })
    expect(report.ordinary.arrived).toBe(1)
    expect(report.urgent.arrived).toBeGreaterThan(0.5)
    expect(report.urgent.bulkKbitPerS).toBeGreaterThan(0)
    // They share a processor with all else here; of a queue of a megabyte they see nothing.
    expect(report.urgentToOrdinary.p50).toBeLessThan(0.8)
  },
)
