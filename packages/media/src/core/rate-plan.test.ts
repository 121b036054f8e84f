import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { neededBitsPerS, planRate, type PlannedRendition } from './rate-plan.ts'

const sound: PlannedRendition = { minBitsPerS: 32_000, maxBitsPerS: 32_000, framesPerS: 50 }
const low: PlannedRendition = { minBitsPerS: 60_000, maxBitsPerS: 120_000, framesPerS: 15 }
const high: PlannedRendition = { minBitsPerS: 250_000, maxBitsPerS: 500_000, framesPerS: 30 }
/** Of messages: sound 50, low 15, high 30 a second, of 200 bytes. */
const [ofSound, ofLow, ofHigh] = [32_000 + 80_000, 24_000, 48_000]

describe('a plan for a rate', () => {
  it.each([
    ['all', ofSound + ofLow + 120_000 + ofHigh + 500_000, [120_000, 500_000]],
    ['a smaller picture of the highest', ofSound + ofLow + 120_000 + ofHigh + 300_000, [120_000, 300_000]],
    ['the lowest only', ofSound + ofLow + 120_000 + ofHigh + 240_000, [120_000, 0]],
    ['the lowest, smaller', ofSound + ofLow + 70_000, [70_000, 0]],
    ['sound only', ofSound + ofLow + 50_000, [0, 0]],
    ['sound even where there is too little', 1_000, [0, 0]],
  ])('has %s', (_, target, videoBitsPerS) => {
    expect(planRate(target, [sound], [low, high])).toEqual({ audioBitsPerS: [32_000], videoBitsPerS })
  })

  it('takes a rendition up again only with something to spare', () => {
    const without = planRate(1_000, [sound], [low])
    expect(planRate(ofSound + ofLow + 65_000, [sound], [low], without).videoBitsPerS).toEqual([0])
    expect(planRate(ofSound + ofLow + 72_000, [sound], [low], without).videoBitsPerS).toEqual([72_000])
  })

  it('says what the next rendition needs to come back', () => {
    const [audio, video] = [[sound], [low, high]]
    const needed = (target: number) => neededBitsPerS(planRate(target, audio, video), audio, video)
    expect(needed(2_000_000)).toBeUndefined()
    for (const target of [1_000, ofSound + ofLow + 120_000]) {
      const before = planRate(target, audio, video)
      const paused = before.videoBitsPerS.filter((bitsPerS) => bitsPerS === 0).length
      const after = planRate(needed(target) ?? 0, audio, video, before)
      expect(after.videoBitsPerS.filter((bitsPerS) => bitsPerS === 0)).toHaveLength(paused - 1)
    }
  })

  it('never takes more than there is for pictures', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2_000_000 }), (target) => {
        const { videoBitsPerS } = planRate(target, [sound], [low, high])
        const overheads = [ofLow, ofHigh]
        const taken = videoBitsPerS.reduce(
          (sum, bits, i) => sum + bits + (bits > 0 ? (overheads[i] ?? 0) : 0),
          0,
        )
        expect(taken).toBeLessThanOrEqual(Math.max(0, target - ofSound))
      }),
    )
  })
})
