import { VirtualClock } from '@runnel/transport'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { chainAhead } from './chain-ahead.testkit.ts'
import { ClockWatch } from './clock-watch.ts'

const minuteMs = 60_000

/** A watch, and what it logs: each line resolves the promise that was there when it came. */
async function watched(offsetMs: number) {
  const { network, ahead } = await chainAhead(offsetMs)
  const clock = new VirtualClock()
  const lines: string[] = []
  let looked = Promise.withResolvers<void>()
  const schedule: VirtualClock['schedule'] = (...call) => {
    looked.resolve()
    return clock.schedule(...call)
  }
  const logger = {
    error: (_: object, text: string) => void lines.push(text),
    info: (text: string) => void lines.push(text),
  }
  const limits = { clockLookMs: 5 * minuteMs, wrongClockLookMs: minuteMs }
  const watch = new ClockWatch(limits, { network, clock: { schedule }, logger: logger as never })
  onTestFinished(() => watch.stop())
  watch.start()
  await looked.promise
  const after = async (ms: number, nowAheadMs: number | undefined) => {
    ahead.ms = nowAheadMs
    looked = Promise.withResolvers()
    clock.advanceBy(ms)
    await looked.promise
  }
  return { watch, clock, lines, ahead, after }
}

describe('ClockWatch', () => {
  it('says nothing of a clock that is right', async () => {
    const { watch, lines, after } = await watched(2_000)
    await after(5 * minuteMs, 0)
    expect(watch.problem).toBeUndefined()
    expect(lines).toEqual([])
  })

  it('tells once of a clock that goes wrong, and when it is right again', async () => {
    const { watch, lines, after } = await watched(0)
    await after(5 * minuteMs, -20 * minuteMs)
    await after(minuteMs, -20 * minuteMs)
    expect(watch.problem).toMatchObject({ code: 'CLOCK_WRONG' })
    expect(lines).toEqual([expect.stringMatching(/20 min ahead, so that.*timedatectl/)])
    await after(minuteMs, 0)
    expect(watch.problem).toBeUndefined()
    expect(lines.slice(1)).toEqual(['the clock is right again'])
  })

  it('tells of a clock that is wrong by less than others refuse, which is no problem yet', async () => {
    const { watch, lines, after } = await watched(3 * minuteMs)
    expect(watch.problem).toBeUndefined()
    expect(lines).toEqual([expect.stringMatching(/3 min behind. Set it/)])
    await after(minuteMs, 180 * minuteMs)
    expect(watch.problem).toMatchObject({ code: 'CLOCK_WRONG' })
    expect(lines).toHaveLength(2)
  })

  it('is not right again because nobody says what time it is', async () => {
    const { watch, lines, after } = await watched(-20 * minuteMs)
    await after(minuteMs, undefined)
    expect(watch.problem).toMatchObject({ code: 'CLOCK_WRONG' })
    await after(minuteMs, -20 * minuteMs)
    expect(lines).toHaveLength(1)
  })

  it('is not wrong because the machine slept, or its clock was set, while a server answered', async () => {
    const { watch, lines, ahead, after } = await watched(0)
    onTestFinished(() => void vi.useRealTimers())
    ahead.onAsked = () => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60 * minuteMs })
    await after(5 * minuteMs, 0)
    expect([watch.problem, lines]).toEqual([undefined, []])
  })

  it('looks no more once it is stopped', async () => {
    const { watch, clock } = await watched(0)
    expect(clock.nextAtMs).toBe(clock.monotonicMs() + 5 * minuteMs)
    watch.start()
    watch.stop()
    watch.stop()
    expect(clock.nextAtMs).toBeUndefined()
  })
})
