import { VirtualClock } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { FreezableClock } from './freezable-clock.testkit.ts'
import { StallGuard } from './stall-guard.ts'

function setUp() {
  const time = new VirtualClock()
  const clock = new FreezableClock(time)
  const stalls: number[] = []
  const used = { cpuMs: 0 }
  const guard = new StallGuard(
    { stallMs: 3_000, onStall: (stalledMs) => stalls.push(stalledMs) },
    { clock, cpuMs: () => used.cpuMs },
  )
  guard.start()
  guard.start()
  return { time, clock, guard, stalls, used }
}

describe('the stall guard', () => {
  it('says nothing while time passes as it should, nor of a short stop', () => {
    const { time, clock, stalls } = setUp()
    time.advanceBy(60_000)
    clock.freeze()
    time.advanceBy(1_999)
    clock.thaw()
    time.advanceBy(60_000)
    expect(stalls).toEqual([])
  })

  it('notices with the first timer that the process stood still, once each time', () => {
    const { time, clock, guard, stalls } = setUp()
    for (const stoppedMs of [3_000, 10_000]) {
      clock.freeze()
      time.advanceBy(stoppedMs)
      clock.thaw()
      guard.check()
      time.advanceBy(5_000)
    }
    expect(stalls).toEqual([3_000, 10_000])
  })

  it('notices it before the first packet that is dealt with, should that come first', () => {
    const { time, clock, guard, stalls } = setUp()
    clock.freeze()
    time.advanceBy(3_500)
    guard.check()
    expect(stalls).toEqual([3_500])
    clock.thaw()
    expect(stalls).toEqual([3_500])
  })

  it('does not take much work for a stall, as long as it looks at the clock in between', () => {
    const { time, clock, guard, stalls } = setUp()
    clock.freeze()
    for (let i = 0; i < 20; i++) {
      time.advanceBy(1_000)
      guard.check()
    }
    clock.thaw()
    expect(stalls).toEqual([])
  })

  it('does not take one long piece of work for a stall, on a busy machine either', () => {
    const { time, clock, guard, stalls, used } = setUp()
    for (const share of [1, 0.1, 0.01]) {
      clock.freeze()
      time.advanceBy(5_000)
      used.cpuMs += share * 5_000
      guard.check()
      clock.thaw()
      time.advanceBy(5_000)
    }
    expect(stalls).toEqual([5_000])
  })

  it('asks for no more time after it was stopped', () => {
    const { time, guard, stalls } = setUp()
    guard.stop()
    guard.stop()
    time.advanceBy(10_000)
    guard.check()
    expect([stalls, time.nextAtMs]).toEqual([[], undefined])
  })
})
