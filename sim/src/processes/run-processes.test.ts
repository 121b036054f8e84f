import { describe, expect, it } from 'vitest'
import { runProcesses } from './run-processes.ts'

describe('real processes that lose packets and are killed', () => {
  it.each([
    { kind: 'webrtc', listenEvery: 0 },
    { kind: 'websocket', listenEvery: 1 },
  ])(
    'leave every survivor with every message, once and in order, over $kind',
    { timeout: 180_000 },
    async ({ kind, listenEvery }) => {
      const report = await runProcesses({
        seed: 'test',
        nodes: 7,
        // With more, flooding alone brings nearly everything.
        degree: 2,
        listenEvery,
        publishers: 2,
        messages: 80,
        intervalMs: 100,
        lossRate: 0.2,
        killEveryMessages: 50,
        settleLimitMs: 60_000,
        minutes: 5,
      })
      expect(report.killed).toBe(3)
      expect(report.survivors).toBeGreaterThan(3)
      const missing = report.nodes.flatMap((node) =>
        node.missing.map((miss) => ({ name: node.name, ...miss })),
      )
      expect(missing).toEqual([])
      expect(report).toMatchObject({ delivered: report.expected, outOfOrder: 0, duplicates: 0 })
      expect(report.nodes.reduce((sum, { gaps }) => sum + gaps.opened, 0)).toBeGreaterThan(0)
      expect(report.nodes.flatMap(({ transports }) => transports)).toContain(kind)
    },
  )
})
