import { describe, expect, it } from 'vitest'
import { RateTrial } from './rate-trial.ts'

/** A rendition that needs 600 kbit/s, where links tell of so much: the times at which it is tried, in seconds. */
function triedAt(toldBitsPerS: (second: number) => number, seconds: number, isSilent = false): number[] {
  const trial = new RateTrial()
  const tried: number[] = []
  let was = false
  for (let second = 0; second < seconds; second++) {
    const told = toldBitsPerS(second)
    const rate = trial.rate(told, second * 1_000)
    const isTried = rate > told
    if (isTried && !was) tried.push(second)
    was = isTried
    trial.planned(rate < 600_000 ? 600_000 : undefined, isSilent, second * 1_000)
  }
  return tried
}

describe('a rendition that pauses', () => {
  it('is tried, and less and less often while links do not follow', () => {
    expect(triedAt(() => 400_000, 160)).toEqual([2, 9, 20, 39, 72, 105, 138])
  })

  it('is tried each time soon where nothing else is published', () => {
    expect(triedAt(() => 400_000, 20, true)).toEqual([1, 5, 9, 13, 17])
  })

  it('is tried once where they do', () => {
    expect(triedAt((second) => (second < 4 ? 400_000 : 700_000), 100)).toEqual([2])
  })

  it('is tried soon after it has been there again', () => {
    const told = (second: number): number => (second >= 50 && second < 60 ? 700_000 : 400_000)
    expect(triedAt(told, 64)).toEqual([2, 9, 20, 39])
    expect(triedAt((second) => (second >= 21 && second < 60 ? 700_000 : 400_000), 64)).toEqual([2, 9, 20, 62])
  })

  it('is not tried while it is there', () => {
    expect(triedAt(() => 800_000, 100)).toEqual([])
  })
})

describe('what is published for the first time', () => {
  it('is tried at once, and goes by the rate when that is known', () => {
    const trial = new RateTrial()
    trial.begin(800_000, 0)
    expect(trial.dueMs).toBe(3_000)
    expect(trial.rate(500_000, 100)).toBe(800_000)
    expect(trial.rate(900_000, 1_000)).toBe(900_000)
    trial.planned(undefined, false, 1_000)
    expect(trial.rate(300_000, 2_000)).toBe(300_000)
    expect(trial.dueMs).toBe(Infinity)
  })

  it('pauses where the rate does not follow', () => {
    const trial = new RateTrial()
    trial.begin(800_000, 0)
    expect(trial.rate(500_000, 3_000)).toBe(500_000)
    trial.planned(600_000, false, 3_000)
    expect(trial.dueMs).toBe(7_000)
  })
})
