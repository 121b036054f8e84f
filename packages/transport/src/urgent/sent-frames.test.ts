import { describe, expect, it } from 'vitest'
import { ArrivalLog } from './arrival-log.ts'
import { SentFrames } from './sent-frames.ts'

const repeatable = { packet: new Uint8Array(1), alias: 0, deadlineMs: 500, priority: 9, repeats: 0 }
const frame = { sentMs: 0, bytes: 100, repeatable }
const other = { sentMs: 0, bytes: 100 }

describe('SentFrames', () => {
  it('hears of each frame once, and knows what is under way', () => {
    const sent = new SentFrames(10)
    const [first, second] = [
      sent.add(frame),
      sent.add({ ...frame, sentMs: 5, repeatable: { ...repeatable, alias: 7 } }),
    ]
    sent.add(other)
    expect(sent.bytes).toBe(200)
    const frames = [
      { number: first, atTenthsMs: 100 },
      { number: second, atTenthsMs: 160 },
    ]
    const report = sent.report({ type: 'arrivals', heldTenthsMs: 20, frames }, 30)
    expect(report.arrived).toMatchObject([
      { sentMs: 0, arrivedMs: 10 },
      { sentMs: 5, arrivedMs: 16 },
    ])
    expect(report).toMatchObject({ aliases: [7], lost: 0, rttMs: 23 })
    expect(sent.report({ type: 'arrivals', heldTenthsMs: 20, frames }, 30)).toMatchObject({
      ...{ arrived: [], aliases: [], rttMs: undefined },
    })
    expect(sent.bytes).toBe(0)
  })

  it('takes for lost what three reports pass over, but no other packets', () => {
    const sent = new SentFrames(10)
    sent.add(frame)
    sent.add(other)
    const lost = [10, 30, 50, 99, 100].map((nowMs) => {
      const frames = [{ number: sent.add(frame), atTenthsMs: nowMs }]
      return sent.report({ type: 'arrivals', heldTenthsMs: 0, frames }, nowMs).lost
    })
    expect(lost).toEqual([0, 0, 0, 0, 1])
    expect(sent.bytes).toBe(0)
  })

  it('takes nothing for lost by reports that name nothing under way', () => {
    const sent = new SentFrames(10)
    sent.add(frame)
    const told = [10, 50, 100, 200, 300].map((nowMs) => {
      const frames = [{ number: 4_000_000_000, atTenthsMs: nowMs }]
      return sent.report({ type: 'arrivals', heldTenthsMs: 0, frames }, nowMs)
    })
    for (const report of told) expect(report).toMatchObject({ arrived: [], lost: 0, missing: [] })
    expect(sent.bytes).toBe(100)
  })

  it('says at once what to send again, and a report later where frames overtake each other', () => {
    const sent = new SentFrames(20)
    const wanted = { ...repeatable, deadlineMs: 600 }
    const addLost = () => sent.add({ ...frame, repeatable: wanted })
    const missing = (nowMs: number, overtaken: readonly number[] = []) => {
      const frames = [...overtaken, sent.add(frame)].map((number) => ({ number, atTenthsMs: 10 * nowMs }))
      return sent.report({ type: 'arrivals', heldTenthsMs: 0, frames }, nowMs).missing
    }
    addLost()
    expect([missing(20), missing(40)]).toEqual([[wanted], []])
    const overtaken = addLost()
    expect([missing(60), missing(80, [overtaken])]).toEqual([[wanted], []])
    addLost()
    expect([missing(100), missing(120)]).toEqual([[], [wanted]])
  })

  it('watches so many, and writes off what it does not hear of', () => {
    const sent = new SentFrames(3)
    for (let i = 0; i < 5; i++) sent.add(frame)
    expect(sent.bytes).toBe(300)
    sent.writeOff()
    expect(sent.bytes).toBe(0)
    const frames = [{ number: 5, atTenthsMs: 0 }]
    expect(sent.report({ type: 'arrivals', heldTenthsMs: 0, frames }, 9).arrived.length).toBe(1)
    expect(sent.bytes).toBe(0)
  })
})

describe('ArrivalLog', () => {
  it('tells each arrival twice, in order of the numbers, 50 ms after the first', () => {
    const log = new ArrivalLog()
    expect(log.dueMs).toBe(Infinity)
    log.add(5, 10)
    log.add(4, 12)
    expect(log.dueMs).toBe(60)
    expect(log.take(60)).toEqual({
      ...{ type: 'arrivals', heldTenthsMs: 480 },
      frames: [
        { number: 4, atTenthsMs: 120 },
        { number: 5, atTenthsMs: 100 },
      ],
    })
    log.add(6, 70)
    expect(log.take(120).frames.map(({ number }) => number)).toEqual([4, 5, 6])
    log.add(7, 130)
    expect(log.take(180).frames.map(({ number }) => number)).toEqual([6, 7])
  })

  it('tells sooner where a number is missing, 20 ms after the last report', () => {
    const log = new ArrivalLog()
    log.add(7, 10)
    expect(log.dueMs).toBe(60)
    log.add(9, 12)
    expect(log.dueMs).toBe(10)
    log.take(12)
    log.add(12, 20)
    expect(log.dueMs).toBe(32)
    log.take(32)
    log.add(11, 40)
    log.add(13, 41)
    expect(log.dueMs).toBe(90)
  })

  it('is full with as many as a report has room for', () => {
    const log = new ArrivalLog()
    for (let number = 0; number < 500; number++) log.add(number, number / 100)
    expect(log.dueMs).toBe(-Infinity)
    expect(log.take(9).frames.length).toBe(128)
  })
})
