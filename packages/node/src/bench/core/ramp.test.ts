import { describe, expect, it } from 'vitest'
import { Ramp, type RampOptions } from './ramp.ts'

/** Tries loads that are met up to `limit`. */
function climb(limit: number, options: Partial<RampOptions> = {}) {
  const ramp = new Ramp({ from: 10, most: 1_000, maxSteps: 20, ...options })
  const tried: number[] = []
  for (let load = ramp.next(); load !== undefined; load = ramp.next()) {
    tried.push(load)
    const met = load <= limit
    ramp.add({ load, met, end: met ? undefined : 'node' })
  }
  return { tried, ...ramp.result }
}

describe('Ramp', () => {
  it('doubles the load until it fails, then halves the distance', () => {
    expect(climb(100)).toEqual({ tried: [10, 20, 40, 80, 160, 120, 100, 110], load: 100, end: 'node' })
  })

  it('goes down where the first is too much', () => {
    expect(climb(3)).toMatchObject({ load: 3, end: 'node' })
    expect(climb(0)).toMatchObject({ tried: [10, 5, 3, 2, 1], load: 0, end: 'node' })
  })

  it('tries no larger load than it may, and no more than it may', () => {
    expect(climb(5_000)).toMatchObject({ load: 1_000, end: 'limit' })
    expect(climb(5_000, { maxSteps: 3 })).toEqual({ tried: [10, 20, 40], load: 40, end: 'limit' })
  })

  it('forgets a failure below a load that was met', () => {
    const ramp = new Ramp({ from: 10, most: 20, maxSteps: 9 })
    ramp.add({ load: 10, met: false, end: 'network' })
    ramp.add({ load: 20, met: true, end: undefined })
    expect(ramp.next()).toBeUndefined()
    expect(ramp.result).toEqual({ load: 20, end: 'limit' })
  })
})
