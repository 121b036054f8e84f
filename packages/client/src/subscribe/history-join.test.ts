import type { Gap } from '@runnel/network'
import { compareRefs, toStreamPartId, type MessageRef, type StreamMessage } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clientError } from '../errors.ts'
import { BoundedQueue } from '../queue/bounded-queue.ts'
import { at, chainOf, streamId, times } from '../resend/batches.testkit.ts'
import { resendLimits, type ResendLimits } from '../resend/limits.ts'
import type { PartPlan } from '../resend/part-sources.ts'
import { toSelection, type HistorySelection } from '../resend/selection.ts'
import { HistoryJoin, type HistoryJoinModules } from './history-join.ts'
import { ArrivalFlow, OrderedFlow, type Sink } from './live-flow.ts'

const streamPartId = toStreamPartId(streamId, 0)
/** The clock of a test stands at this time. */
const now = 1_000_000
const messagesOf = (of: readonly number[], chainId = 'a'): StreamMessage[] =>
  chainOf(
    of.map((time) => now + time),
    { chainId },
  ).flatMap(({ messages }) => messages)

const planAtFirst: readonly PartPlan[] = [{ streamPartId, storageNodes: [] }]

const tick = () => new Promise<void>((resolve) => setImmediate(resolve))

interface SetUp {
  readonly selection?: HistorySelection
  readonly order?: 'chain' | 'arrival'
  readonly limits?: Partial<ResendLimits>
  readonly connected?: Promise<void>
  readonly read?: HistoryJoinModules['history']['read']
  /** Default: the storage nodes there were at the beginning. */
  readonly plan?: HistoryJoinModules['plan']
  /** Instead of `heard`. */
  readonly push?: (message: StreamMessage) => unknown
  readonly room?: () => Promise<void>
  /** What the node lacks. */
  readonly isMissing?: (chain: unknown, place: MessageRef) => boolean
}

/** A join over a store that has what is in `stored` when it is asked. */
function setUp(options: SetUp = {}) {
  const { selection = { from: 0 }, order = 'chain', limits = {}, connected, read } = options
  const { room = () => Promise.resolve(), isMissing = () => false } = options
  const stored: StreamMessage[] = []
  const heard: StreamMessage[] = []
  const gaps: Gap[] = []
  const failures: unknown[] = []
  const reads: number[] = []
  const sink: Sink = {
    message: (message) => (options.push ?? ((it) => heard.push(it)))(message),
    gap: (gap) => gaps.push(gap),
  }
  const flow =
    order === 'chain'
      ? new OrderedFlow(sink, { node: { isMissing: (_, chain, place) => isMissing(chain, place) } })
      : new ArrivalFlow(sink)
  const history: HistoryJoinModules['history'] = {
    limits: { ...resendLimits, ...limits },
    sourceModules: { clock: new VirtualClock({ startMs: now }) },
    read:
      read ??
      async function* (_, { selection: wanted, messageChainId }) {
        const mine = stored
          .filter((message) => messageChainId === undefined || message.messageChainId === messageChainId)
          .toSorted(compareRefs)
        const found =
          wanted.kind === 'last'
            ? mine.slice(-wanted.count)
            : mine.filter((it) => compareRefs(it, wanted.from) >= 0 && compareRefs(it, wanted.to) <= 0)
        reads.push(found.length)
        for (const message of found) {
          await tick()
          yield [message]
        }
      },
  }
  const wanted = {
    selection: toSelection(selection),
    publisherId: undefined,
    messageChainId: undefined,
    partitions: [0],
  }
  const join = new HistoryJoin(
    { plan: planAtFirst, wanted },
    {
      history,
      plan: options.plan ?? (async () => planAtFirst),
      flow,
      sink,
      connected,
      room,
      onFailed: (error) => failures.push(error),
    },
  )
  const timesHeard = () => heard.map(({ timestamp }) => timestamp - now)
  return { stored, heard, timesHeard, gaps, failures, reads, join }
}

/** Until nothing is under way any more. */
async function settle(): Promise<void> {
  for (let i = 0; i < 300; i++) await tick()
}

describe.each(['chain', 'arrival'] as const)('history joined to live, order %s', (order) => {
  it('reads what is missing later from the storage nodes that there are then', async () => {
    const all = messagesOf(times(1, 6))
    const planLater: readonly PartPlan[] = [{ streamPartId, storageNodes: [] }]
    const of = new Map([
      [planAtFirst[0], all.slice(0, 2)],
      [planLater[0], all.slice(2, 5)],
    ])
    const { timesHeard, gaps, join } = setUp({
      order,
      plan: async () => planLater,
      read: async function* ([part]) {
        for (const message of of.get(part) ?? []) yield [message]
      },
    })
    await join.run()
    join.message(all[5] as StreamMessage)
    await settle()
    expect([timesHeard(), gaps]).toEqual([times(1, 6), []])
  })

  it('reads from those it knew when it cannot be said which there are', async () => {
    const all = messagesOf(times(1, 6))
    const { timesHeard, stored, join } = setUp({
      order,
      plan: () => Promise.reject(clientError('NO_STORAGE_NODE')),
    })
    stored.push(...all.slice(0, 2))
    await join.run()
    stored.push(...all.slice(2))
    join.message(all[5] as StreamMessage)
    await settle()
    expect(timesHeard()).toEqual(times(1, 6))
  })

  it('holds live messages back while history comes, and gives none twice', async () => {
    const { stored, timesHeard, join } = setUp({ order })
    const all = messagesOf(times(1, 20))
    stored.push(...all.slice(0, 12))
    const running = join.run()
    for (const message of all.slice(8)) join.message(message)
    await running
    expect(timesHeard()).toEqual(times(1, 20))
  })

  it('gives what filled a gap while history came before the messages behind that gap', async () => {
    const { stored, timesHeard, join, gaps } = setUp({ order })
    const all = messagesOf(times(1, 20))
    stored.push(...all.slice(0, 5))
    const running = join.run()
    for (const message of [...all.slice(4, 8), ...all.slice(15), ...all.slice(8, 15)]) join.message(message)
    await running
    await settle()
    expect(timesHeard()).toEqual(times(1, 20))
    expect(gaps).toEqual([])
  })

  it('asks once more for what was published between the two', async () => {
    const { stored, timesHeard, join, reads } = setUp({ order })
    const all = messagesOf(times(1, 20))
    stored.push(...all.slice(0, 10))
    await join.run()
    stored.push(...all.slice(10))
    for (const message of all.slice(15)) join.message(message)
    await settle()
    expect(timesHeard()).toEqual(times(1, 20))
    expect(reads).toEqual([10, 6])
  })

  it('does so for a chain that history knows nothing of, if it belongs to what was asked for', async () => {
    const { stored, join, heard, gaps } = setUp({ order, selection: { from: now + 5 } })
    await join.run()
    const [a, b] = [messagesOf(times(1, 9)), messagesOf([1, 2, 9], 'b')]
    stored.push(...a, ...b)
    join.message(a[8] as StreamMessage)
    join.message(b[2] as StreamMessage)
    await settle()
    const of = (id: string) =>
      heard.filter(({ messageChainId }) => messageChainId === id).map((m) => m.timestamp - now)
    expect(of('a')).toEqual(times(5, 9))
    expect(of('b')).toEqual([9])
    expect(gaps).toEqual([])
  })

  it('reports what storage does not have either, and goes on', async () => {
    const { stored, timesHeard, join, gaps } = setUp({ order })
    const all = messagesOf(times(1, 10))
    stored.push(...all.slice(0, 3))
    await join.run()
    for (const message of all.slice(6)) join.message(message)
    await settle()
    expect(timesHeard()).toEqual([1, 2, 3, 7, 8, 9, 10])
    expect(gaps).toMatchObject([{ streamPartId, after: at(now + 3), upTo: at(now + 6) }])
  })

  it('reads from storage the live messages it had no room for', async () => {
    const { stored, timesHeard, join, gaps } = setUp({ order, limits: { maxBufferedLive: 3 } })
    const all = messagesOf(times(1, 50))
    stored.push(...all)
    const running = join.run()
    for (const message of all.slice(20)) join.message(message)
    await running
    await settle()
    expect(timesHeard()).toEqual(times(1, 50))
    expect(gaps).toEqual([])
  })

  it('drops nothing for a consumer that keeps taking, however much there is', async () => {
    const queue = new BoundedQueue<StreamMessage>({ maxItems: 8, maxBytes: Infinity })
    let dropped = 0
    const { stored, join, gaps } = setUp({
      order,
      limits: { maxBufferedLive: 20, maxWaitingLive: 10 },
      room: () => queue.room(),
      push: (message) => (dropped += queue.push(message, 0)),
    })
    const [a, b] = [messagesOf(times(1, 600)), messagesOf(times(1, 600), 'b')]
    const publish = (i: number) => {
      const messages = [a[i], b[i]].filter((it) => it !== undefined)
      stored.push(...messages)
      messages.forEach((message) => join.message(message))
    }
    times(0, 99).forEach(publish)
    let isLive = false
    let published = 100
    let publishedWhenLive = 0
    void join.run().then(() => {
      isLive = true
      publishedWhenLive = published
    })
    const taken: StreamMessage[] = []
    // Two come in four turns; storage gives one a turn, and three may be taken.
    for (let turn = 0; published < 600 || !isLive || queue.length > 0; turn++) {
      if (turn % 4 === 0) publish(published++)
      for (let n = 0; n < 3 && queue.length > 0; n++) taken.push((await queue.next()).value as StreamMessage)
      await tick()
    }
    expect(publishedWhenLive).toBeGreaterThan(150)
    expect(publishedWhenLive).toBeLessThan(600)
    for (const [id, messages] of Object.entries({ a, b })) {
      expect(taken.filter(({ messageChainId }) => messageChainId === id)).toEqual(messages)
    }
    expect(dropped).toBe(0)
    expect(gaps).toEqual([])
  })

  it('reports exactly what there was no room for when storage cannot be read any more', async () => {
    const all = messagesOf(times(1, 30))
    const opened = Promise.withResolvers<void>()
    let reads = 0
    const { timesHeard, join, gaps } = setUp({
      order,
      limits: { maxBufferedLive: 5 },
      // Full once a live message went through.
      room: () => (timesHeard().length < 4 ? Promise.resolve() : opened.promise),
      read: async function* () {
        if (reads++ > 0) throw clientError('RESEND_FAILED')
        yield all.slice(0, 3)
      },
    })
    const running = join.run()
    for (const message of all.slice(3, 6)) join.message(message)
    await settle()
    for (const message of all.slice(6)) join.message(message)
    await settle()
    opened.resolve()
    await expect(running).rejects.toMatchObject({ code: 'RESEND_FAILED' })
    await settle()
    expect(timesHeard()).toEqual([1, 2, 3, 4, ...times(26, 30)])
    expect(gaps).toMatchObject([{ after: at(now + 4), upTo: at(now + 25) }])
  })

  it('reports what there was no room for and storage never had, also where no later message of a chain shows it', async () => {
    const { stored, join, gaps, timesHeard } = setUp({ order, limits: { maxBufferedLive: 4 } })
    const [all, ended] = [messagesOf(times(1, 12)), messagesOf([3, 5, 7], 'ends')]
    stored.push(...all, ...ended.slice(0, 1))
    const running = join.run()
    for (const message of [...ended, ...all]) join.message(message)
    await running
    await settle()
    expect(timesHeard()).toEqual([...times(1, 12), 3].toSorted((a, b) => a - b))
    const places = gaps.map(({ chain, after, upTo }) => [chain.messageChainId, after, upTo])
    const place = (ms: number) => ({ timestamp: now + ms, sequenceNumber: 0 })
    expect(places).toEqual([['ends', place(3), place(7)]])
    const [next] = messagesOf([3, 5, 7, 20], 'ends').slice(3)
    if (next !== undefined) join.message(next)
    await settle()
    expect(timesHeard().at(-1)).toBe(20)
    expect(gaps).toHaveLength(1)
  })

  it('reports the lost end of a chain that still waits for what lies between it and history', async () => {
    const [ends, other] = [messagesOf(times(1, 5), 'ends'), messagesOf(times(10, 14), 'other')]
    const [opened, between] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let rooms = 0
    const { timesHeard, join, gaps } = setUp({
      order,
      limits: { maxBufferedLive: 4 },
      // For what history has, and for the first live message.
      room: () => (++rooms <= 2 ? Promise.resolve() : opened.promise),
      read: async function* (_, { messageChainId, selection: { kind } }) {
        if (messageChainId === 'ends') {
          await between.promise
          yield ends.slice(1, 2)
        } else if (rooms === 0) yield ends.slice(0, 1)
        else if (kind === 'range') yield other
      },
    })
    join.message(ends[2] as StreamMessage)
    const running = join.run()
    await settle()
    for (const message of [...ends.slice(3), ...other]) join.message(message)
    opened.resolve()
    await running
    between.resolve()
    await settle()
    expect(timesHeard()).toEqual([1, ...times(10, 14), 2, 3])
    const place = (ms: number) => ({ timestamp: now + ms, sequenceNumber: 0 })
    expect(gaps).toMatchObject([{ chain: { messageChainId: 'ends' }, after: place(3), upTo: place(5) }])
  })

  it('reports what there was no room for and storage never had where the chain goes on', async () => {
    const all = messagesOf(times(1, 12))
    const opened = Promise.withResolvers<void>()
    let rooms = 0
    const { timesHeard, join, gaps } = setUp({
      order,
      limits: { maxBufferedLive: 4 },
      room: () => (++rooms <= 2 ? Promise.resolve() : opened.promise),
      read: async function* () {
        if (rooms === 0) yield all.slice(0, 1)
        else yield all.slice(2, 6)
      },
    })
    join.message(all[1] as StreamMessage)
    const running = join.run()
    await settle()
    for (const message of all.slice(2)) join.message(message)
    opened.resolve()
    await running
    await settle()
    expect(timesHeard()).toEqual([...times(1, 6), ...times(9, 12)])
    const place = (ms: number) => ({ timestamp: now + ms, sequenceNumber: 0 })
    expect(gaps).toMatchObject([{ after: place(6), upTo: place(8) }])
  })

  it('says that it cannot, also where no later message of a chain shows a gap', async () => {
    const [all, other] = [messagesOf(times(1, 30)), messagesOf([5], 'b')]
    const opened = Promise.withResolvers<void>()
    let reads = 0
    const { heard, join, failures } = setUp({
      order,
      limits: { maxBufferedLive: 5 },
      room: () => (heard.length < 3 ? Promise.resolve() : opened.promise),
      read: async function* () {
        if (reads++ > 0) throw clientError('RESEND_FAILED')
        yield all.slice(0, 3)
      },
    })
    const running = join.run()
    await settle()
    for (const message of [...other, ...all.slice(5)]) join.message(message)
    await settle()
    opened.resolve()
    await expect(running).rejects.toMatchObject({ code: 'RESEND_FAILED' })
    await settle()
    expect(heard.filter(({ messageChainId }) => messageChainId === 'b')).toEqual([])
    expect(failures).toMatchObject([{ code: 'RESEND_FAILED' }])
  })

  it('reads what came before there was anybody to receive from', async () => {
    const connecting = Promise.withResolvers<void>()
    const { stored, timesHeard, join } = setUp({
      order,
      selection: { last: 2 },
      connected: connecting.promise,
    })
    const all = messagesOf(times(1, 6))
    stored.push(...all.slice(0, 4), ...messagesOf([1, 2], 'b'))
    const running = join.run()
    await settle()
    expect(timesHeard()).toEqual([3, 4])
    stored.push(...all.slice(4))
    connecting.resolve()
    await running
    expect(timesHeard()).toEqual([3, 4, 5, 6])
  })

  it('gives what is published from now on although its clock is ahead', async () => {
    const { timesHeard, gaps, join } = setUp({ order, selection: { last: 3 } })
    await join.run()
    for (const message of messagesOf([-60_000, -59_000])) join.message(message)
    await settle()
    expect([timesHeard(), gaps]).toEqual([[-60_000, -59_000], []])
  })

  it('reads what came before there was anybody to receive from although its clock is ahead', async () => {
    for (const selection of [{ last: 2 }, { last: 5 }, { from: 0 }]) {
      const connecting = Promise.withResolvers<void>()
      const { stored, timesHeard, join } = setUp({ order, selection, connected: connecting.promise })
      const all = messagesOf([-62_000, -61_000, -60_000])
      stored.push(...all.slice(0, 2))
      const running = join.run()
      await settle()
      stored.push(...all.slice(2))
      connecting.resolve()
      await running
      expect(timesHeard()).toEqual([-62_000, -61_000, -60_000])
    }
  })

  it('leaves out what neighbours replay of before the history that was asked for', async () => {
    const { stored, timesHeard, join } = setUp({ order, selection: { last: 3 } })
    const [all, older] = [messagesOf(times(1, 9)), messagesOf([2, 3], 'b')]
    stored.push(...all.slice(0, 8), ...older)
    await join.run()
    for (const message of [...all.slice(2), ...older]) join.message(message)
    await settle()
    expect(timesHeard()).toEqual([6, 7, 8, 9])
  })

  it('lets live messages through when history cannot be read, and says so', async () => {
    const read: SetUp['read'] = async function* () {
      yield messagesOf([1])
      throw clientError('RESEND_FAILED')
    }
    const { timesHeard, join, failures } = setUp({ order, read })
    const all = messagesOf(times(1, 3))
    const running = join.run()
    join.message(all[1] as StreamMessage)
    await expect(running).rejects.toMatchObject({ code: 'RESEND_FAILED' })
    join.message(all[2] as StreamMessage)
    await settle()
    expect(timesHeard()).toEqual([1, 2, 3])
    expect(failures).toMatchObject([{ code: 'RESEND_FAILED' }])
  })

  it('gives gaps that the node gave up meanwhile in their turn', async () => {
    const { stored, timesHeard, join, gaps } = setUp({ order })
    const all = messagesOf(times(1, 6))
    stored.push(...all.slice(0, 2))
    const running = join.run()
    join.message(all[2] as StreamMessage)
    join.message(all[5] as StreamMessage)
    const chain = {
      streamId,
      partition: 0,
      publisherId: (all[0] as StreamMessage).publisherId,
      messageChainId: 'a',
    }
    join.gap({ streamPartId, chain, after: at(now + 3), upTo: at(now + 5) })
    await running
    await settle()
    expect(timesHeard()).toEqual([1, 2, 3, 6])
    expect(gaps).toMatchObject([{ after: at(now + 3), upTo: at(now + 5) }])
  })

  it('gives none twice of chains that it has forgotten', async () => {
    const { stored, join, heard, gaps } = setUp({ order, limits: { maxJoinedChains: 2 } })
    const names = ['a', 'b', 'c', 'd']
    const chains = names.map((name, i) =>
      messagesOf(
        times(0, 9).map((round) => round * 10 + i + 1),
        name,
      ),
    )
    const round = (i: number) => chains.map((chain) => chain[i] as StreamMessage)
    stored.push(...times(0, 2).flatMap(round))
    await join.run()
    for (const i of times(3, 9)) {
      stored.push(...round(i))
      round(i).forEach((message) => join.message(message))
    }
    await settle()
    for (const [i, name] of names.entries())
      expect(heard.filter(({ messageChainId }) => messageChainId === name)).toEqual(chains[i])
    expect(gaps).toEqual([])
  })

  it('looks for what came between the two also of a chain that others have outrun', async () => {
    const { stored, join, heard, gaps } = setUp({ order, limits: { maxJoinedChains: 3 } })
    const [first, between, last] = messagesOf([1, 2, 30], 'y') as [
      StreamMessage,
      StreamMessage,
      StreamMessage,
    ]
    stored.push(first)
    await join.run()
    stored.push(between)
    for (const name of ['a', 'b', 'c', 'd', 'e']) join.message(messagesOf([10], name)[0] as StreamMessage)
    join.message(last)
    await settle()
    expect(heard.filter(({ messageChainId }) => messageChainId === 'y')).toEqual([first, between, last])
    expect(gaps).toEqual([])
  })

  it('ends while it reads', async () => {
    const { stored, timesHeard, join } = setUp({ order })
    stored.push(...messagesOf(times(1, 10)))
    const running = join.run()
    join.end()
    await expect(running).rejects.toMatchObject({ code: 'ABORTED' })
    join.message(messagesOf([11])[0] as StreamMessage)
    expect(timesHeard().length).toBeLessThanOrEqual(10)
  })

  it('gives each chain whole, in order and once, whatever is published when', async () => {
    const run = fc.record({
      steps: fc.array(fc.constantFrom('a', 'b', 'c', 'wait'), { minLength: 5, maxLength: 60 }),
      subscribedAt: fc.nat(30),
      connectedAfter: fc.nat(15),
      maxBufferedLive: fc.integer({ min: 2, max: 20 }),
      maxRecentHistory: fc.integer({ min: 1, max: 20 }),
      maxWaitingLive: fc.integer({ min: 2, max: 20 }),
    })
    await fc.assert(
      fc.asyncProperty(run, async ({ steps, subscribedAt, connectedAfter, ...limits }) => {
        const connecting = Promise.withResolvers<void>()
        const { stored, heard, join, gaps } = setUp({ order, limits, connected: connecting.promise })
        const published = new Map<string, StreamMessage[]>()
        let running: Promise<void> | undefined
        for (const [i, step] of steps.entries()) {
          if (i === subscribedAt) running = join.run()
          if (i === subscribedAt + connectedAfter) connecting.resolve()
          if (step === 'wait') {
            await tick()
            continue
          }
          // Times go up over all chains.
          const chain = published.get(step) ?? []
          const before = chain.at(-1)
          const previous = before && at(before.timestamp)
          const [batch] = chainOf([now + i], { chainId: step, ...(previous ? { previous } : {}) })
          const message = batch?.messages[0] as StreamMessage
          published.set(step, [...chain, message])
          stored.push(message)
          if (i >= subscribedAt + connectedAfter) join.message(message)
        }
        running ??= join.run()
        connecting.resolve()
        await running
        await settle()
        for (const [id, messages] of published) {
          expect(heard.filter(({ messageChainId }) => messageChainId === id)).toEqual(messages)
        }
        expect(gaps).toEqual([])
      }),
      { numRuns: 50 },
    )
  }, 120_000)
})

it('waits for what filled a gap behind a message that is held already, while there is no room', async () => {
  const gate = Promise.withResolvers<void>()
  const missing = new Set([3, 4, 5].map((time) => now + time))
  let isHeld = false
  const { stored, timesHeard, join, gaps } = setUp({
    isMissing: (_, { timestamp }) => {
      isHeld ||= missing.has(timestamp)
      return missing.has(timestamp)
    },
    room: () => (isHeld ? gate.promise : Promise.resolve()),
  })
  const all = messagesOf(times(1, 6))
  stored.push(...all.slice(0, 2))
  const running = join.run()
  for (const message of [...all.slice(1, 2), ...all.slice(5)]) join.message(message)
  await settle()
  expect(isHeld).toBe(true)
  missing.clear()
  for (const message of all.slice(2, 5)) join.message(message)
  gate.resolve()
  await running
  expect(timesHeard()).toEqual(times(1, 6))
  expect(gaps).toEqual([])
})

it.each([
  ['gives', times(3, 9), times(1, 6), []],
  ['reports', times(6, 9), [1, 2, 6], [{ after: at(now + 2), upTo: at(now + 5) }]],
])('%s what filled a gap behind a held message, and had no room, as storage has it', async (...of) => {
  const [, inStorage, expected, gapsExpected] = of
  const gate = Promise.withResolvers<void>()
  const missing = new Set([3, 4, 5].map((time) => now + time))
  let isHeld = false
  const { stored, heard, join, gaps } = setUp({
    limits: { maxBufferedLive: 2 },
    isMissing: (_, { timestamp }) => {
      isHeld ||= missing.has(timestamp)
      return missing.has(timestamp)
    },
    room: () => (isHeld ? gate.promise : Promise.resolve()),
  })
  // None of the chain comes after them: others took their room.
  const [all, others] = [messagesOf(times(1, 6)), messagesOf(times(7, 9), 'b')]
  stored.push(...all.slice(0, 2))
  const running = join.run()
  for (const message of [...all.slice(1, 2), ...all.slice(5, 6)]) join.message(message)
  await settle()
  expect(isHeld).toBe(true)
  missing.clear()
  stored.push(...[...all.slice(2), ...others].filter(({ timestamp }) => inStorage.includes(timestamp - now)))
  for (const message of [...all.slice(2, 5), ...others]) join.message(message)
  gate.resolve()
  await running
  await settle()
  expect(heard.filter((one) => one.messageChainId === 'a').map((one) => one.timestamp - now)).toEqual(
    expected,
  )
  expect(gaps).toMatchObject(gapsExpected)
})
