import { VirtualClock } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { decodeMessage } from '../content/decode.ts'
import type { Message } from '../subscribe/message.ts'
import { at, chainOf, times } from './batches.testkit.ts'
import { PacedPlayback, type ReadFrom } from './playback.ts'
import { toSelection, type HistorySelection } from './selection.ts'

const stored = chainOf(times(1_000, 20_000, 1_000))
  .flatMap(({ messages }) => messages)
  .map((message) => decodeMessage(message))

/** A playback of twenty messages, one a second, and when each was delivered. */
function setUp(options: { selection?: HistorySelection; speed?: number; failAt?: number } = {}) {
  const { selection = { from: 0 }, speed = 1, failAt } = options
  const clock = new VirtualClock()
  const controller = new AbortController()
  const read: ReadFrom = async function* (wanted, signal) {
    const range = toSelection(wanted)
    for (const message of stored) {
      if (signal.aborted) throw new Error('called off')
      if (message.timestamp === failAt) throw new Error('the store is gone')
      if (
        range.kind === 'range' &&
        (message.timestamp < range.from.timestamp || message.timestamp > range.to.timestamp)
      )
        continue
      yield message
    }
  }
  const playback = new PacedPlayback({ selection, speed }, { read, clock, signal: controller.signal })
  const heard: string[] = []
  let over: 'no' | 'yes' | Error = 'no'
  void (async () => {
    try {
      for await (const { timestamp } of playback)
        heard.push(`${timestamp / 1_000}@${clock.monotonicMs() / 1_000}`)
      over = 'yes'
    } catch (error) {
      over = error as Error
    }
  })()
  /** Lets so many seconds pass, and what is due happen as it is due. */
  const pass = async (seconds: number) => {
    for (let i = 0; i < seconds * 4; i++) {
      await new Promise(setImmediate)
      clock.advanceBy(250)
    }
    await new Promise(setImmediate)
    return heard.splice(0).join(' ')
  }
  return { playback, clock, controller, pass, isOver: () => over }
}

describe('playback', () => {
  it('keeps the pace at which was published', async () => {
    const { pass, playback } = setUp()
    expect(await pass(3)).toBe('1@0 2@1 3@2 4@3')
    expect(await pass(2)).toBe('5@4 6@5')
    expect(playback.position).toEqual(at(6_000))
  })

  it('keeps a multiple of it, and ends', async () => {
    const { pass, isOver } = setUp({ speed: 4, selection: { from: 1_000, to: 8_000 } })
    expect(await pass(3)).toBe('1@0 2@0.25 3@0.5 4@0.75 5@1 6@1.25 7@1.5 8@1.75')
    expect(isOver()).toBe('yes')
  })

  it('goes as fast as it is taken at infinite speed', async () => {
    const { pass, isOver } = setUp({ speed: Infinity })
    expect((await pass(0.25)).split(' ')).toHaveLength(20)
    expect(isOver()).toBe('yes')
  })

  it('stands still while it is paused, and goes on where it was', async () => {
    const { playback, pass } = setUp()
    expect(await pass(1.5)).toBe('1@0 2@1')
    playback.pause()
    playback.pause()
    expect(playback.isPaused).toBe(true)
    expect(await pass(10)).toBe('')
    playback.resume()
    playback.resume()
    expect(await pass(2)).toBe('3@12 4@13')
  })

  it('changes its speed at once', async () => {
    const { playback, pass } = setUp()
    expect(await pass(1.5)).toBe('1@0 2@1')
    playback.setSpeed(0.5)
    expect(playback.speed).toBe(0.5)
    expect(await pass(3)).toBe('3@2.5 4@4.5')
    playback.pause()
    playback.setSpeed(2)
    playback.resume()
    expect(await pass(1)).toBe('5@5 6@5.5')
  })

  it('goes back and ahead, also while it waits or is paused', async () => {
    const { playback, pass } = setUp()
    expect(await pass(2)).toBe('1@0 2@1 3@2')
    playback.seek(10_500)
    expect(playback.position).toEqual(at(10_500))
    expect(await pass(1)).toBe('11@2 12@3')
    playback.pause()
    playback.seek(new Date(2_000))
    expect(await pass(1)).toBe('')
    playback.resume()
    expect(await pass(1)).toBe('2@4 3@5')
  })

  it('keeps to the end of what was selected', async () => {
    const { playback, pass, isOver } = setUp({ selection: { from: 1_000, to: 5_000 } })
    await pass(1)
    playback.seek(4_000)
    expect(await pass(3)).toBe('4@1 5@2')
    expect(isOver()).toBe('yes')
    expect(() => playback.seek(6_000)).toThrow(expect.objectContaining({ code: 'INVALID_RESEND' }))
  })

  it('ends when its loop is left', async () => {
    const { playback, pass, isOver } = setUp()
    await pass(1)
    await playback.return()
    expect(await pass(5)).toBe('')
    expect(isOver()).toBe('yes')
    expect(await playback.next()).toEqual({ done: true, value: undefined })
  })

  it.each([
    ['waits', () => {}],
    ['is paused', (playback: PacedPlayback) => playback.pause()],
  ])('can be called off while it %s, and leaves no timer behind', async (_, before) => {
    const { playback, pass, isOver, controller, clock } = setUp()
    expect(await pass(1.5)).toBe('1@0 2@1')
    before(playback)
    await pass(0.25)
    controller.abort()
    await pass(0)
    expect(isOver()).toMatchObject({ code: 'ABORTED' })
    expect(clock.nextAtMs).toBeUndefined()
    expect(await playback.next()).toEqual({ done: true, value: undefined })
  })

  it('gives each of several that wait at once a message of their own', async () => {
    const { playback, pass } = setUp()
    expect(await pass(1.5)).toBe('1@0 2@1')
    playback.pause()
    const waiting = [playback.next(), playback.next()]
    await pass(1)
    playback.resume()
    await pass(5)
    const times = (await Promise.all(waiting)).map(({ value }) => value?.timestamp)
    expect(times).toEqual([4_000, 5_000])
  })

  it('goes on from a place after all was delivered, unless it was ended', async () => {
    const { playback, pass, isOver } = setUp({ speed: Infinity })
    await pass(1)
    expect(isOver()).toBe('yes')
    playback.seek(19_000)
    expect(await playback.next()).toMatchObject({ value: { timestamp: 19_000 } })
    expect(await playback.next()).toMatchObject({ value: { timestamp: 20_000 } })
    expect(await playback.next()).toEqual({ done: true, value: undefined })
    playback.seek(20_000)
    await playback.return()
    expect(await playback.next()).toEqual({ done: true, value: undefined })
  })

  it('ends with what reading ends with', async () => {
    const { pass, isOver } = setUp({ failAt: 3_000 })
    expect(await pass(5)).toBe('1@0 2@1')
    expect(isOver()).toMatchObject({ message: 'the store is gone' })
  })

  it('refuses what is no speed, no place and no selection', () => {
    const { playback } = setUp()
    for (const speed of [0, -1, Number.NaN]) {
      expect(() => setUp({ speed })).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
      expect(() => playback.setSpeed(speed)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
    }
    expect(() => playback.seek(-1)).toThrow(expect.objectContaining({ code: 'INVALID_RESEND' }))
    expect(() => setUp({ selection: { last: 0 } })).toThrow(
      expect.objectContaining({ code: 'INVALID_RESEND' }),
    )
  })

  it('delivers the same messages that were stored', async () => {
    const messages: Message[] = []
    const read: ReadFrom = async function* () {
      yield* stored
    }
    const playback = new PacedPlayback(
      { selection: { last: 20 }, speed: Infinity },
      { read, clock: new VirtualClock(), signal: new AbortController().signal },
    )
    for await (const message of playback) messages.push(message)
    expect(messages).toEqual(stored)
  })
})
