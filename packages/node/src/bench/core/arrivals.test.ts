import { describe, expect, it } from 'vitest'
import { ArrivalRing, type Arrival } from './arrivals.ts'

function all(ring: ArrivalRing, nowMs: number): Arrival[] {
  const taken: Arrival[] = []
  for (let next = ring.take(nowMs); next !== undefined; next = ring.take(nowMs)) taken.push(next)
  return taken
}

describe('ArrivalRing', () => {
  const options = { publishers: 2, ratePerS: 5, startMs: 1_000, endMs: 1_400, phase: 0 }

  it('spreads publishers evenly over the time between two messages of one', () => {
    expect(all(new ArrivalRing(options), 2_000)).toEqual([
      { publisher: 0, count: 0, intendedMs: 1_000 },
      { publisher: 1, count: 0, intendedMs: 1_100 },
      { publisher: 0, count: 1, intendedMs: 1_200 },
      { publisher: 1, count: 1, intendedMs: 1_300 },
    ])
  })

  it('gives what is due, and says when the next is', () => {
    const ring = new ArrivalRing(options)
    expect(ring.take(999)).toBeUndefined()
    expect(ring.nextMs).toBe(1_000)
    expect(all(ring, 1_150)).toHaveLength(2)
    expect(ring.nextMs).toBe(1_200)
  })

  it('gives those it is late with all at once, each with the time it was meant for', () => {
    expect(all(new ArrivalRing(options), 9_999).map(({ intendedMs }) => intendedMs)).toEqual([
      1_000, 1_100, 1_200, 1_300,
    ])
  })

  it('shifts by a part of the time between two, and ends', () => {
    const ring = new ArrivalRing({ ...options, phase: 0.5 })
    expect(ring.nextMs).toBe(1_050)
    expect(all(ring, 9_999)).toHaveLength(4)
    expect(ring.nextMs).toBe(Infinity)
  })

  it('has as many as fit, whatever is lost of times of today', () => {
    const startMs = 1_795_702_584_364.3
    for (const publishers of [3, 6, 7, 11]) {
      const ring = new ArrivalRing({ publishers, ratePerS: 10, startMs, endMs: startMs + 600, phase: 0 })
      expect(all(ring, Infinity)).toHaveLength(6 * publishers)
    }
  })

  it('never has any without publishers', () => {
    const ring = new ArrivalRing({ ...options, publishers: 0 })
    expect(ring.nextMs).toBe(Infinity)
    expect(ring.take(9_999)).toBeUndefined()
  })
})
