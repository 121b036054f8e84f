import { describe, expect, it } from 'vitest'
import { lacksRoot } from '../../underlay/privileges.testkit.ts'
import { createUnderlay } from '../../underlay/underlay.ts'
import { roomArms, relayOf } from './room-plan.ts'
import { runRoom } from './run-room.ts'

const options = {
  ...{
    members: 3,
    voices: 2,
    pictures: 2,
    floods: 'thin' as const,
    lossPercent: 0,
    dilation: 2,
    measureMs: 3_000,
    seed: 1,
  },
  ...{ sites: ['eu-west-1', 'eu-west-2'], relaySites: ['us-east-1', 'eu-west-3'] },
}

describe.skipIf(lacksRoot)('a room in namespaces', () => {
  it.each(roomArms)('brings sound and pictures to everybody: %s', { timeout: 200_000 }, async (arm) => {
    const row = await runRoom({ ...options, arm }, createUnderlay('aws'), new AbortController().signal)
    expect(row).toMatchObject({ arm, members: 3 })
    // Two voices at two others each, 50 frames a second; more where the machine is late.
    expect(Number(row['soundFrames'])).toBeGreaterThan(500)
    expect(Number(row['pictureFrames'])).toBeGreaterThan(0)
    expect(Number(row['soundLossPercent'])).toBeLessThan(50)
    // As far as it is by the underlay at least.
    expect(Number(row['europeRttMs'])).toBeGreaterThan(0.9 * Number(row['europeUnderlayRttMs']))
    expect(Number(row['soundCopies'])).toBeGreaterThanOrEqual(1)
  })
})

describe('a member', () => {
  const delayMs = (from: string, to: string): number => Math.abs(Number(from) - Number(to))
  it('goes to the relay that is nearer, or to one in turn', () => {
    const relays = [2, 6, 6].map(String)
    expect(
      [1, 3, 7, 7].map((site, number) => relayOf({ site: String(site), number }, relays, delayMs)),
    ).toEqual([0, 0, 1, 2])
  })
})
