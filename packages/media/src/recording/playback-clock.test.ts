import { describe, expect, it } from 'vitest'
import { PlaybackClock } from './playback-clock.ts'

describe('the clock of a playback', () => {
  it('moves at its rate while it runs', () => {
    const clock = new PlaybackClock(1_000)
    expect(clock.positionMs(50)).toBe(1_000)
    clock.run(100)
    expect(clock.positionMs(300)).toBe(1_200)
    clock.setRate(2, 300)
    expect(clock.positionMs(400)).toBe(1_400)
    clock.setRate(0.5, 400)
    expect(clock.positionMs(600)).toBe(1_500)
    clock.hold(600)
    expect(clock.positionMs(10_000)).toBe(1_500)
    expect([clock.isRunning, clock.rate]).toEqual([false, 0.5])
  })

  it('goes on from where it was put, running or not', () => {
    const clock = new PlaybackClock(0)
    clock.jump(5_000, 10)
    expect(clock.positionMs(20)).toBe(5_000)
    clock.run(20)
    clock.jump(7_000, 40)
    expect(clock.positionMs(50)).toBe(7_010)
  })

  it('says how long it ran, whatever the rate', () => {
    const clock = new PlaybackClock(0)
    clock.run(0)
    clock.setRate(4, 100)
    clock.hold(200)
    clock.run(500)
    expect(clock.ranMs(600)).toBe(300)
  })
})
