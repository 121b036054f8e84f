import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LoadPlan } from '../core/plan.ts'
import { startOwnNetwork } from '../network/own-network.ts'
import type { Target } from '../network/target.ts'
import { drive, type DriveOptions } from './drive.ts'
import { expectedOf } from './expected.ts'
import { LocalGenerator } from './local-generator.ts'

const timeoutMs = 60_000
let target: Target

beforeAll(async () => {
  const { signal } = new AbortController()
  const options = { nodes: 0, parts: 1, degree: 4, encrypted: false, storage: false, gateways: false }
  target = await startOwnNetwork({ ...options, signal, onProgress: () => {} })
}, timeoutMs)
afterAll(() => target.stop(), timeoutMs)

function planWith(over: Partial<LoadPlan> = {}): LoadPlan {
  return {
    ...{
      runId: 1,
      sender: 0,
      kind: 'light',
      links: 'websocket',
      floods: 'thin',
      clients: 6,
      publishersPerPart: 2,
      subscribes: true,
    },
    ...{ history: 0, connectPerS: 200, degree: 4, parts: target.parts },
    flows: [{ name: 'messages', ratePerS: 50, sizeBytes: 100, urgent: false }],
    ...over,
  }
}

function optionsWith(plan: LoadPlan, over: Partial<DriveOptions> = {}): DriveOptions {
  return {
    ...{ plan, target, generators: [new LocalGenerator('here')] },
    place: { network: target.source, user: undefined, host: '127.0.0.1', gateway: undefined },
    times: { settleMs: 20_000, warmupMs: 50, durationMs: 200, drainMs: 20_000, prepareMs: 0 },
    ...{ signal: new AbortController().signal, onPhase: () => {}, onSecond: () => {} },
    onUnclosed: (texts) => expect.unreachable(texts.join()),
    ...over,
  }
}

describe('drive', () => {
  it(
    'sends in overlays that have settled, and waits for what is on its way',
    async () => {
      const plan = planWith()
      const { results, unsettled } = await drive(optionsWith(plan))
      expect(unsettled).toEqual([])
      expect(results[0]).toMatchObject({ published: [25], received: 125, duplicates: 0, disordered: 0 })
      expect(expectedOf(plan, results)).toBe(125)
    },
    timeoutMs,
  )

  it(
    'has all users join, also where nobody reads and only some publish',
    async () => {
      const plan = planWith({ subscribes: false, publishersPerPart: 1 })
      const { results } = await drive(optionsWith(plan))
      expect(results[0]).toMatchObject({ published: [13], unsent: [0], received: 0 })
    },
    timeoutMs,
  )

  it(
    'says who lacked how many neighbours where an overlay does not settle, and goes on',
    async () => {
      const times = { settleMs: 300, warmupMs: 0, durationMs: 50, drainMs: 20_000, prepareMs: 0 }
      const { unsettled, results } = await drive(optionsWith(planWith({ degree: 5 }), { times }))
      // Overlays of six have room for a fifth neighbour of some.
      expect(unsettled).toContainEqual(expect.stringMatching(/^user \d has 4 of 5 neighbours$/))
      expect(results[0]?.received).toBe(expectedOf(planWith(), results))
    },
    timeoutMs,
  )

  it(
    'ends when it is told to, with what it measured, and closes its users',
    async () => {
      const stop = new AbortController()
      const times = { settleMs: 20_000, warmupMs: 0, durationMs: 3_600_000, drainMs: 0, prepareMs: 0 }
      const onPhase = (text: string) => {
        if (text === 'sending') stop.abort()
      }
      const { cut, results } = await drive(optionsWith(planWith(), { signal: stop.signal, times, onPhase }))
      expect(cut).toMatchObject({ error: { code: 'INTERRUPTED' }, silent: [] })
      expect(results).toHaveLength(1)
    },
    timeoutMs,
  )

  it(
    'says that users cannot take part, with the reason',
    async () => {
      const parts = [{ streamId: `0x${'9'.repeat(40)}/gone`, partition: 0 }]
      await expect(drive(optionsWith(planWith({ parts })))).rejects.toMatchObject({
        code: 'BENCH_USERS_FAILED',
        message: expect.stringContaining('STREAM_NOT_FOUND'),
      })
    },
    timeoutMs,
  )
})
