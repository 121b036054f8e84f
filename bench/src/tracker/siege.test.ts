import { expect, it } from 'vitest'
import { siegeBench } from './siege-bench.ts'

it(
  'honest nodes join, and stay, while one network holds all that it can at their tracker',
  { timeout: 240_000 },
  async () => {
    const report = await siegeBench({
      keys: 60,
      sockets: 40,
      partsPerKey: 3,
      joins: 4,
      maxMs: 120_000,
      limits: { maxNodes: 30, maxStreamParts: 50 },
    })
    expect(report).toMatchObject({ failed: 0, residentsEvicted: 0, baseline: { failed: 0 } })
    // The siege had all there was, and what the honest got was taken from it.
    expect(report.siege.opened).toBeGreaterThan(report.siege.connected)
    expect(report.tracker['nodes']).toBeLessThanOrEqual(30)
    expect(report.tracker['stream_parts']).toBeLessThanOrEqual(50)
    expect(report.tracker['nodes_refused']).toBeGreaterThan(0)
    expect(report.tracker['nodes_evicted']).toBeGreaterThan(0)
    expect(report.tracker['stream_parts_refused']).toBeGreaterThan(0)
  },
)
