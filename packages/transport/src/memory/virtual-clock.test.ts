import { seededRandom } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from './virtual-clock.ts'

describe('VirtualClock', () => {
  it('runs events by time, then by insertion', () => {
    const clock = new VirtualClock()
    const random = seededRandom('order')
    const expected: { atMs: number; order: number }[] = []
    const seen: { atMs: number; order: number }[] = []
    for (let order = 0; order < 2000; order++) {
      const event = { atMs: Math.floor(random.next() * 50), order }
      expected.push(event)
      clock.schedule(event.atMs, () => {
        expect(clock.monotonicMs()).toBe(event.atMs)
        seen.push(event)
      })
    }
    clock.advanceBy(50)
    expect(seen).toEqual(expected.sort((a, b) => a.atMs - b.atMs || a.order - b.order))
  })

  it('ends a turn at the same instant, after what was due, before what comes of it', () => {
    const clock = new VirtualClock()
    const seen: string[] = []
    clock.schedule(5, () => {
      clock.endOfTurn(() => {
        seen.push('end of turn')
        expect(clock.monotonicMs()).toBe(5)
      })
      clock.schedule(0, () => seen.push('new'))
      seen.push('first')
    })
    clock.schedule(5, () => seen.push('second'))
    clock.advanceBy(5)
    expect(seen).toEqual(['first', 'second', 'end of turn', 'new'])
  })

  it('has a wall clock that can be set, whatever is scheduled', () => {
    const clock = new VirtualClock({ startMs: 1_000_000 })
    let atMs: number | undefined
    clock.schedule(10, () => (atMs = clock.now()))
    clock.advanceBy(5)
    clock.moveWall(-3_600)
    expect([clock.now(), clock.monotonicMs(), clock.nextAtMs]).toEqual([996_405, 5, 10])
    clock.advanceBy(5)
    expect([atMs, clock.monotonicMs()]).toEqual([996_410, 10])
  })

  it('cancels, also among many and twice', () => {
    const clock = new VirtualClock()
    const seen: number[] = []
    const cancels = Array.from({ length: 100 }, (_, i) => clock.schedule(100 - i, () => seen.push(i)))
    for (const [i, cancel] of cancels.entries()) if (i % 3 > 0) cancel()
    cancels[1]?.()
    expect(clock.runUntilIdle()).toBe(true)
    cancels[0]?.()
    expect(seen).toEqual(Array.from({ length: 34 }, (_, i) => 99 - 3 * i))
    expect(clock.nextAtMs).toBeUndefined()
  })

  it('moves on without events, and never back', () => {
    const clock = new VirtualClock({ startMs: 1_000_000 })
    clock.advanceTo(10.5)
    clock.advanceTo(3)
    expect([clock.monotonicMs(), clock.now()]).toEqual([10.5, 1_000_010])
  })

  it('stops a run that would never be idle', () => {
    const clock = new VirtualClock()
    let ticks = 0
    const tick = (): void => {
      ticks++
      clock.schedule(10, tick)
    }
    tick()
    expect(clock.runUntilIdle(100)).toBe(false)
    expect(ticks).toBe(11)
  })
})
