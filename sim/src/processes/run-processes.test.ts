import { describe, expect, it } from 'vitest'
import { runProcesses } from './run-processes.ts'

describe('real processes that lose packets and are killed', () => {
  it('leave every survivor with every message, once and in order', { timeout: 180_000 }, async () => {
    const report = await runProcesses({
      seed: 'test',
      nodes: 7,
      degree: 4,
      publishers: 2,
      messages: 100,
      intervalMs: 100,
      lossRate: 0.2,
      killEveryMessages: 50,
      settleLimitMs: 60_000,
    })
    expect(report.killed).toBe(4)
    expect(report.nodes.flatMap(({ name, missing }) => missing.map((miss) => ({ name, ...miss })))).toEqual(
      [],
    )
    expect(report).toMatchObject({ delivered: report.expected, outOfOrder: 0, duplicates: 0 })
    expect(report.nodes.reduce((sum, { gaps }) => sum + gaps.opened, 0)).toBeGreaterThan(0)
    const kinds = new Set(report.nodes.flatMap(({ transports }) => transports))
    expect(kinds).toEqual(new Set(['webrtc', 'websocket']))
  })
})
