import { describe, expect, it } from 'vitest'
import { maxAheadMs, MessageClock } from './message-clock.ts'

describe('the clock of a message chain', () => {
  it('numbers the messages of one millisecond', () => {
    const clock = new MessageClock({ maxBehindMs: 600 })
    const places = [1000, 1000, 1001].map((now) => clock.next(clock.timestampFor(undefined, now)))
    expect(places).toEqual([
      { timestamp: 1000, sequenceNumber: 0 },
      { timestamp: 1000, sequenceNumber: 1 },
      { timestamp: 1001, sequenceNumber: 0 },
    ])
  })

  it('stays where it was when the system clock goes back', () => {
    const clock = new MessageClock({ maxBehindMs: 600 })
    expect(clock.timestampFor(undefined, 1000)).toBe(1000)
    expect(clock.timestampFor(undefined, 400)).toBe(1000)
  })

  it('takes a given time that is not before the last', () => {
    const clock = new MessageClock({ maxBehindMs: 600 })
    expect(clock.timestampFor(500, 1000)).toBe(500)
    expect(clock.timestampFor(500, 1000)).toBe(500)
    expect(clock.timestampFor(1000 + maxAheadMs, 1000)).toBe(1000 + maxAheadMs)
    expect(clock.timestampFor(undefined, 1001)).toBe(1000 + maxAheadMs)
  })

  it('refuses a given time before the last, and forgets it', () => {
    const clock = new MessageClock({ maxBehindMs: 600 })
    clock.timestampFor(500, 1000)
    expect(() => clock.timestampFor(499, 1000)).toThrow(
      expect.objectContaining({ code: 'TIMESTAMP_OUT_OF_ORDER' }),
    )
    expect(clock.timestampFor(500, 1000)).toBe(500)
  })

  it.each([-1, 0.5, NaN, Infinity, 399, 1001 + maxAheadMs])('refuses the time %s', (given) => {
    expect(() => new MessageClock({ maxBehindMs: 600 }).timestampFor(given, 1000)).toThrow(
      expect.objectContaining({ code: 'TIMESTAMP_OUT_OF_BOUNDS' }),
    )
  })
})
