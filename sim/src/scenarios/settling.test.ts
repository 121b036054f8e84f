import { describe, expect, it } from 'vitest'
import { Settling } from './settling.ts'

/** Seconds until a delay that changes so has settled; undefined when it has not in a quarter of an hour. */
function settledAfter(settling: Settling, delayAt: (atS: number) => number, completeFromS = 0) {
  for (let atS = 1; atS <= 900; atS++) {
    settling.add({ atS, meanDelayMs: delayAt(atS), complete: atS >= completeFromS })
    if (settling.isSettled) return atS
  }
  return undefined
}

describe('Settling', () => {
  it('waits until the delay has stopped falling', () => {
    const settling = new Settling('topology-aware')
    const settledS = settledAfter(settling, (atS) => 100 + 100 * Math.exp(-atS / 60)) ?? 0
    // From the 276th second it falls by another 1 %; 120 s of that and two samples of 10 are seen.
    expect(settledS).toBeGreaterThan(380)
    expect(settledS).toBeLessThan(400)
    const { convergedAfterS = 0 } = settling
    expect(convergedAfterS).toBeGreaterThan(200)
    expect(convergedAfterS).toBeLessThan(250)
  })

  it('does not take slow progress for its end', () => {
    expect(settledAfter(new Settling('topology-aware'), (atS) => 300 - atS / 10)).toBe(undefined)
  })

  it('is not deceived by ups and downs', () => {
    const noisy = (atS: number) => 100 + (atS % 2 === 0 ? 3 : -3)
    expect(settledAfter(new Settling('topology-aware'), noisy)).toBe(130)
  })

  it('waits for all degrees, and has nothing to wait for in a random overlay then', () => {
    const settling = new Settling('random')
    expect(settledAfter(settling, () => 100, 50)).toBe(79)
    expect(settling.convergedAfterS).toBe(50)
    settling.add({ atS: 80, meanDelayMs: 100, complete: false })
    expect(settling.convergedAfterS).toBe(undefined)
  })
})
