import { describe, expect, it } from 'vitest'
import { overAfter } from './over.ts'
import { runProcesses, type ProcessesOptions } from './run-processes.ts'

const options: ProcessesOptions = {
  seed: 'test',
  nodes: 7,
  // With more, flooding alone brings nearly everything.
  degree: 2,
  listenEvery: 1,
  publishers: 2,
  messages: 80,
  intervalMs: 100,
  lossRate: 0.2,
  killEveryMessages: 50,
  settleLimitMs: 60_000,
}

describe('real processes that lose packets and are killed', () => {
  it.each([
    { kind: 'webrtc', listenEvery: 0 },
    { kind: 'websocket', listenEvery: 1 },
  ])(
    'leave every survivor with every message, once and in order, over $kind',
    { timeout: 180_000 },
    async ({ kind, listenEvery }) => {
      const over = overAfter(5, () => kind)
      const report = await runProcesses({ ...options, listenEvery }, over)
      over.cancel()
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

  it('end when the time of all runs is over', async () => {
    const over = overAfter(0, () => '1 of 3 runs')
    await expect(runProcesses(options, over)).rejects.toMatchObject({
      code: 'TOO_SLOW',
      message: expect.stringContaining('1 of 3 runs') as string,
    })
  })
})
