import { describe, expect, it } from 'vitest'
import { runBoundMs } from './budget.ts'
import { filesNeeded } from './open-files.ts'
import { membersOf, publishedPerS, rolesOf, type LoadPlan } from './plan.ts'

const plan: LoadPlan = {
  ...{
    runId: 1,
    sender: 0,
    kind: 'light',
    links: 'websocket',
    floods: 'thin',
    clients: 7,
    publishersPerPart: 2,
    subscribes: true,
  },
  ...{ history: 0, connectPerS: 10, degree: 4 },
  parts: [0, 1, 2].map((partition) => ({ streamId: '0x/s', partition })),
  flows: [{ name: 'messages', ratePerS: 3, sizeBytes: 100, urgent: false }],
}

describe('a plan', () => {
  it('gives each user to one generator, and spreads them over the overlays', () => {
    const roles = [0, 1].flatMap((index) => rolesOf(plan, { index, of: 2 }))
    expect(roles.map(({ number }) => number)).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(roles.map(({ part }) => part)).toEqual([0, 1, 2, 0, 1, 2, 0])
    expect(roles.map(({ publishes }) => publishes)).toEqual([true, true, true, true, true, true, false])
  })

  it('knows how many are in an overlay, and what is published', () => {
    expect([0, 1, 2].map((part) => membersOf(plan, part))).toEqual([3, 2, 2])
    expect(publishedPerS(plan)).toBe(18)
    expect(publishedPerS({ ...plan, publishersPerPart: 100 })).toBe(21)
  })

  it('has a bound on its time that grows with the users', () => {
    const times = { settleMs: 1_000, warmupMs: 100, durationMs: 5_000, drainMs: 500, prepareMs: 0 }
    const bound = runBoundMs(plan, times)
    expect(bound).toBeGreaterThan(6_600)
    expect(runBoundMs({ ...plan, clients: 107 }, times)).toBe(bound + 20_000)
  })

  it('needs more files for links of WebRTC', () => {
    expect(filesNeeded(100, 'light', 'webrtc')).toBeGreaterThan(filesNeeded(100, 'light', 'websocket'))
    expect(filesNeeded(100, 'http', 'webrtc')).toBeLessThan(filesNeeded(100, 'light', 'websocket'))
  })
})
