import { describe, expect, it } from 'vitest'
import { lacksRoot } from '../underlay/privileges.testkit.ts'
import { runFill, type FilledMachine } from './run-fill.ts'
import { usualLimits, type FillOptions } from './session-plan.ts'

const timeoutMs = 180_000
const { signal } = new AbortController()
/** What a busy machine holds is not looked at here: whoever joins at all is in time. */
const options: Omit<FillOptions, 'arm'> = {
  ...{ members: 2, maxSessions: 1, measures: 'each', limits: { ...usualLimits, joinMs: 60_000 } },
  ...{ warmUpMs: 1_000, firstWarmUpMs: 1_000, windowMs: 1_000, budgetMs: 60_000, holdMs: 0 },
}

function expectOneSession({ points, leavesOut }: FilledMachine): void {
  expect(points).toHaveLength(1)
  expect(points[0]).toMatchObject({ sessions: 1, users: 2 })
  for (const figure of [
    'completenessPercent',
    'sentPercent',
    'kbitPerSOfUser',
    'joinMs',
    'memoryMiB',
  ] as const)
    expect(points[0]?.[figure], figure).toBeGreaterThan(0)
  expect(leavesOut).not.toBe('')
}

describe('sessions on a machine', () => {
  it.each(['light-websocket', 'light-webrtc', 'headless'] as const)(
    'has users as %s who send and receive',
    { timeout: timeoutMs },
    async (arm) => {
      // Where others keep the machine busy, a page takes seconds to its first picture.
      const slow = arm === 'headless' ? { firstWarmUpMs: 5_000, windowMs: 3_000 } : {}
      expectOneSession(
        await runFill({ ...options, ...slow, arm }, { where: { machines: 1 }, signal }, () => {}),
      )
    },
  )

  it.skipIf(lacksRoot)('are on several machines', { timeout: timeoutMs }, async () => {
    const fill = { ...options, arm: 'light-websocket', maxSessions: 2 } as const
    const { points, endedBy } = await runFill(fill, { where: { machines: 2 }, signal }, () => {})
    if (endedBy === 'most sessions') expect(points.at(-1)).toMatchObject({ sessions: 2, users: 4 })
    expect(points[0]?.completenessPercent).toBeGreaterThan(0)
  })
})
