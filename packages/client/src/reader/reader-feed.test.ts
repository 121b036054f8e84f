import { VirtualClock } from '@runnel/transport'
import { expect, it } from 'vitest'
import { clientError } from '../errors.ts'
import type { Message } from '../subscribe/message.ts'
import type { Subscription } from '../subscribe/subscription.ts'
import { readerLimits } from './limits.ts'
import { ReaderFeed, type ReaderFeedModules } from './reader-feed.ts'

const nowMs = 100_000
const maxLateMs = 10_000
const at = (timestamp: number) => ({ timestamp, sequenceNumber: 0 }) as Message
const stored = [10_000, 50_000, 80_000]

/** A subscription without messages, which takes a moment to end. */
function idle(): Subscription {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  return {
    caughtUp: async () => {},
    unsubscribe: async () => void setImmediate(resolve),
    [Symbol.asyncIterator]: () => ({ next: () => ended.then(() => ({ done: true, value: undefined })) }),
  } as unknown as Subscription
}

/** Puts a reader at the beginning while it reads for the first time, of which `found` still comes. Returns each message offered then, after what counted as swept. */
async function offeredAfterReset(floorMs: number, found: readonly number[]) {
  const clock = new VirtualClock({ startMs: nowMs })
  const ending = new AbortController()
  const offered: (readonly [sweptMs: number, timestamp: number])[] = []
  let reads = 0
  const read: ReaderFeedModules['read'] = async function* (selection) {
    if (reads++ === 0) {
      expect(selection).toMatchObject({ from: floorMs })
      feed.beginAt(0)
    }
    for (const timestamp of reads === 1 ? found : stored) yield at(timestamp)
  }
  const feed: ReaderFeed = new ReaderFeed(
    { floorMs, maxLateMs },
    {
      ...{ clock, signal: ending.signal, read, listeners: { onGap: () => {}, onUndecodable: () => {} } },
      subscribe: async () => {
        if (reads > 1) ending.abort()
        ending.signal.throwIfAborted()
        return idle()
      },
      room: async () => {},
      offer: ({ timestamp }) => void offered.push([feed.sweptMs, timestamp]),
      knows: () => false,
      onFailed: () => {},
    },
  )
  const running = feed.run()
  await new Promise(setImmediate)
  clock.advanceBy(maxLateMs / 2)
  await running
  return offered
}

const settledMs = nowMs - maxLateMs
it.each([
  ['history is read', 60_000, []],
  ['history is read, which has something', 60_000, [70_000]],
  ['a sweep goes on', settledMs, []],
  ['a sweep goes on, which finds something', settledMs, [settledMs + 1]],
])('nothing counts as swept that is after where a reader is put while %s', async (_, floorMs, found) => {
  expect(await offeredAfterReset(floorMs, found)).toEqual([
    [0, 10_000],
    [0, 50_000],
    [40_000, 80_000],
  ])
})

it('goes back for each message that a sweep finds, also for one that comes after newer ones', async () => {
  const clock = new VirtualClock({ startMs: nowMs })
  const ending = new AbortController()
  const found = [settledMs + 2, settledMs + 1]
  const offered = new Set<number>()
  let reads = 0
  const feed = new ReaderFeed(
    { floorMs: settledMs, maxLateMs },
    {
      ...{ clock, signal: ending.signal, listeners: { onGap: () => {}, onUndecodable: () => {} } },
      read: async function* ({ from }: { from: number }) {
        reads++
        yield* found.filter((timestamp) => timestamp >= from).map(at)
      } as ReaderFeedModules['read'],
      subscribe: async () => {
        if (reads > 0) ending.abort()
        ending.signal.throwIfAborted()
        return idle()
      },
      room: async () => {},
      offer: ({ timestamp }) => void offered.add(timestamp),
      knows: () => false,
      onFailed: () => {},
    },
  )
  const running = feed.run()
  await new Promise(setImmediate)
  clock.advanceBy(maxLateMs / 2)
  await running
  expect([...offered]).toEqual(found)
})

/** A feed with these modules. */
function feedWith(modules: Partial<ReaderFeedModules>, floorMs = settledMs) {
  const clock = new VirtualClock({ startMs: nowMs })
  const ending = new AbortController()
  const failures: unknown[] = []
  const feed = new ReaderFeed(
    { floorMs, maxLateMs },
    {
      ...{ clock, signal: ending.signal, listeners: { onGap: () => {}, onUndecodable: () => {} } },
      read: async function* () {},
      subscribe: async () => idle(),
      room: async () => {},
      offer: () => {},
      knows: () => false,
      onFailed: (error) => void failures.push(error),
      ...modules,
    },
  )
  return { feed, clock, ending, failures }
}

it('goes on when no storage node can be found for a while: one may be replaced, or its trackers away', async () => {
  const [error, began] = [clientError('NO_STORAGE_NODE'), Promise.withResolvers<void>()]
  let tries = 0
  const subscribe = async () => {
    if (++tries === 1) throw error
    began.resolve()
    return idle()
  }
  const { feed, clock, ending, failures } = feedWith({ subscribe })
  const running = feed.run()
  await new Promise(setImmediate)
  clock.advanceBy(readerLimits.maxReaderBackoffMs)
  await Promise.race([began.promise, running])
  expect(failures).toEqual([error])
  ending.abort()
  feed.again({ timestamp: 0, sequenceNumber: 0 })
  await running
})

it('pauses before it reads again from a message that cannot be read now', async () => {
  const error = clientError('NO_READING_KEY')
  const froms: unknown[] = []
  const subscribe: ReaderFeedModules['subscribe'] = async ({ resend }) => {
    froms.push(resend)
    return idle()
  }
  const { feed, clock, ending, failures } = feedWith({ subscribe })
  const running = feed.run()
  await new Promise(setImmediate)
  feed.putOff(at(settledMs - 5), error)
  for (let i = 0; i < 3; i++) await new Promise(setImmediate)
  expect([failures, froms]).toEqual([[error], [{ from: settledMs }]])
  clock.advanceBy(readerLimits.minReaderBackoffMs)
  for (let i = 0; i < 3; i++) await new Promise(setImmediate)
  expect(froms).toHaveLength(2)
  ending.abort()
  feed.again({ timestamp: 0, sequenceNumber: 0 })
  await running
})

it('counts nothing as swept that is later than what came: the clock may be ahead', async () => {
  const read: ReaderFeedModules['read'] = async function* (selection) {
    const { from, to } = selection as { from: number; to: number }
    yield* stored.filter((timestamp) => timestamp >= from && timestamp <= to).map(at)
  }
  const froms: unknown[] = []
  const subscribe: ReaderFeedModules['subscribe'] = async ({ resend }) => {
    froms.push(resend)
    return idle()
  }
  const { feed, clock, ending } = feedWith({ read, subscribe, knows: () => true }, 60_000)
  clock.moveWall(3_600_000)
  const running = feed.run()
  for (let i = 0; i < 3; i++) await new Promise(setImmediate)
  clock.advanceBy(maxLateMs / 2)
  for (let i = 0; i < 3; i++) await new Promise(setImmediate)
  expect([froms, feed.sweptMs]).toEqual([[{ from: 80_000 }], 80_000])
  ending.abort()
  feed.again(at(0))
  await running
})
