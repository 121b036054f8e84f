import { describe, expect, it } from 'vitest'
import { lacksRoot } from '../underlay/privileges.testkit.ts'
import { firstArms, goals, stages } from './first-plan.ts'
import { runFirst } from './run-first.ts'

const ways = {
  websocket: { transport: 'websocket', path: null },
  // A check that comes before the candidate it was sent from names it peer-reflexive (RFC 8445 7.3.1.3).
  direct: { transport: 'webrtc', path: expect.stringMatching(/^host–(host|prflx)$/) as string },
  relayed: { transport: 'webrtc', path: expect.stringContaining('relay') as string },
} as const

const once = { goal: 'message', arms: firstArms, repeats: 1, oneWayMs: 5, relayOneWayMs: 5 } as const

describe.skipIf(lacksRoot)('the first message in namespaces', () => {
  it.each(goals)(
    '(%s) comes by each way, cold and warm, stage by stage',
    { timeout: 120_000 },
    async (goal) => {
      const { signal } = new AbortController()
      const { rows, facts } = await runFirst({ ...once, goal }, signal, () => {})
      expect(rows.map(({ arm, start }) => `${arm} ${start}`)).toEqual(
        firstArms.flatMap((arm) => [`${arm} cold`, `${arm} warm`]),
      )
      for (const row of rows) {
        expect(row).toMatchObject(ways[row.arm])
        const reached = stages.flatMap((stage) => row[`${stage}Ms`] ?? [])
        const ofGoal = goal === 'frame' ? 2 : 1
        expect(reached).toHaveLength(
          (row.arm === 'websocket' ? 3 : 5) + (row.start === 'cold' ? 2 : 0) + ofGoal,
        )
        expect(reached).toEqual(reached.toSorted((a, b) => Number(a) - Number(b)))
        expect(row.firstMs).toBe(reached.at(-1))
      }
      expect(facts).toMatchObject({ place: 'namespaces', coturn: expect.any(String) as string })
      expect(facts['relay.rssMiB']).toBeGreaterThan(0)
    },
  )

  it('leaves nothing behind when it is interrupted', { timeout: 60_000 }, async () => {
    const controller = new AbortController()
    const options = { ...once, arms: ['websocket'] } as const
    const running = runFirst(options, controller.signal, () => controller.abort(new Error('enough')))
    await expect(running).rejects.toThrow('enough')
  })
})
