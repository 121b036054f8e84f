import { describe, expect, it } from 'vitest'
import { runRoom, type RoomOptions } from './room-run.ts'

const usual = {
  seed: '1',
  members: 6,
  degree: 3,
  seconds: 3,
  lossRate: 0,
  kills: false,
  churns: false,
  liars: 0,
  kbitPerS: Infinity,
} as const
const run = (changes: Partial<RoomOptions> = {}) =>
  runRoom({ ...usual, thinFloods: true, ...changes }, () => {})

describe('a room whose members all send sound and pictures', () => {
  it('brings sound by two ways and pictures by one, as soon as full floods do', async () => {
    const [thin, full] = [await run(), await run({ thinFloods: false })]
    const of = (report: typeof thin) => report.kinds.map(({ expected, arrived }) => [expected, arrived])
    expect(of(thin)).toEqual(of(full))
    for (const { expected, arrived } of thin.kinds) expect(arrived).toBe(expected)
    const [sound, pictures] = thin.kinds
    expect(sound?.copies).toBeLessThan(2.1)
    expect(pictures?.copies).toBeLessThan(1.1)
    expect(full.kinds[1]?.copies).toBeGreaterThan(1.9)
    expect(pictures?.p95Ms).toBeLessThan(1.2 * (full.kinds[1]?.p95Ms ?? 0))
  })

  it('repairs what links lose', async () => {
    const { kinds, pulled } = await run({ lossRate: 0.03 })
    expect(pulled).toBeGreaterThan(0)
    for (const { kind, expected, arrived, p95Ms } of kinds) {
      expect([kind, arrived / expected > 0.995]).toEqual([kind, true])
      expect(p95Ms).toBeLessThan(150)
    }
  })

  it('has members that only listen and watch', async () => {
    const { kinds } = await run({ voices: 2, pictures: 1 })
    const [sound, pictures] = kinds
    // Three seconds of 50 frames of two voices, and of 30 pictures of one camera, at five others.
    expect([sound?.expected, pictures?.expected]).toEqual([5 * 2 * 150, 5 * 90])
    for (const { expected, arrived } of kinds) expect(arrived).toBe(expected)
  })

  it('goes on when one is lost without a word, some come and go, and one withholds half', async () => {
    for (const changes of [{ kills: true }, { churns: true }, { liars: 1 }]) {
      const { kinds } = await run(changes)
      for (const { kind, expected, arrived } of kinds)
        expect([kind, arrived / expected > 0.995]).toEqual([kind, true])
    }
  })
})
