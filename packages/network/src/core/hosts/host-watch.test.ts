import type { MessageBatch, NodeId } from '@runnel/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { networkLimits, type NetworkLimits } from '../../limits.ts'
import type { WithheldMessages } from '../../ports.ts'
import { batchAt, idOf, identityOf, partId, startMs } from '../core.testkit.ts'
import { newCounters } from '../counter-names.ts'
import { HostWatch } from './host-watch.ts'

const [a, b] = [idOf(1), idOf(2)]
const batches = Array.from({ length: 12 }, (_, i) =>
  batchAt(
    [startMs + 1_000 * i],
    i === 0 ? {} : { previous: { timestamp: startMs + 1_000 * (i - 1), sequenceNumber: 0 } },
  ),
)
const batchOf = (n: number): MessageBatch => batches[n] as MessageBatch

/** A watch of two hosts, in time that passes as told. Hosts answer what they are asked, and all clocks agree. */
function script(limits: Partial<NetworkLimits> = { hostClockMs: 0 }) {
  const withheld: WithheldMessages[] = []
  const lines: string[] = []
  const counters = newCounters()
  const asked: { readonly peerId: NodeId; readonly upTo: readonly number[] }[] = []
  let nowMs = 0
  const world = { ageMs: 0, answers: true, isBusy: false }
  const watch: HostWatch = new HostWatch(
    { ...networkLimits, ...limits },
    {
      counters,
      effects: {
        withheld: (told) => withheld.push(told),
        hostFails: (peerId, how) => lines.push(`${Number(peerId)} ${how}`),
      },
      ageMs: () => world.ageMs,
      fetches: {
        once: (peerId, _chain, ranges) => {
          if (world.isBusy) return false
          asked.push({ peerId, upTo: ranges.map(({ upTo }) => (upTo.timestamp - startMs) / 1_000) })
          if (world.answers) watch.answered(partId, peerId, nowMs)
          return true
        },
      },
    },
  )
  const seen = new Set<MessageBatch>()
  let newest = 0
  return {
    ...{ watch, withheld, lines, counters, asked, world },
    /** A host brings one of the batches; of `undefined` the archive. */
    bring(from: NodeId | undefined, n: number, hosts: readonly NodeId[] = [a, b]) {
      const batch = batchOf(n)
      if (!seen.has(batch)) {
        seen.add(batch)
        newest = Math.max(newest, batch.messages[0]?.timestamp ?? 0)
        watch.accepted(
          { streamPartId: partId, hosts, batch, from, newest: { timestamp: newest, sequenceNumber: 0 } },
          nowMs,
        )
      } else if (from !== undefined) watch.again(partId, batch, from, nowMs)
    },
    pass(ms: number) {
      const untilMs = nowMs + ms
      for (; watch.dueMs <= untilMs; watch.tick(nowMs)) nowMs = Math.max(nowMs, watch.dueMs)
      nowMs = untilMs
    },
  }
}

describe('the watch of hosts', () => {
  it('says of a host that left one message out which it was, once, after it was asked twice', () => {
    const { bring, pass, withheld, asked, watch, counters } = script()
    for (const n of [0, 1, 2, 3]) {
      bring(a, n)
      if (n !== 2) bring(b, n)
      pass(100)
    }
    pass(60_000)
    expect(asked).toEqual([
      { peerId: b, upTo: [2] },
      { peerId: b, upTo: [2] },
    ])
    expect(withheld).toEqual([
      {
        streamPartId: partId,
        hostId: b,
        chain: batchOf(2).chain,
        ranges: [
          {
            after: { timestamp: startMs + 1_999, sequenceNumber: 2 ** 32 - 1 },
            upTo: { timestamp: startMs + 2_000, sequenceNumber: 0 },
          },
        ],
        messages: 1,
        deliveredBy: [a],
      },
    ])
    expect(watch.figuresOf(b)).toMatchObject({ delivered: 2, deliveredFirst: 0, withheld: 1 })
    expect(watch.figuresOf(a)).toMatchObject({ delivered: 4, deliveredFirst: 4, withheld: 0 })
    expect(counters['hosts.withheld']).toBe(1)
    expect(watch.dueMs).toBe(Infinity)
  })

  it('counts as late what comes when it is asked for', () => {
    const { bring, pass, withheld, asked, watch } = script()
    for (const n of [0, 1, 2]) {
      bring(a, n)
      if (n !== 1) bring(b, n)
      pass(100)
    }
    pass(networkLimits.hostAskMs + networkLimits.hostWatchMs)
    expect(asked).toHaveLength(1)
    bring(b, 1)
    pass(60_000)
    expect(withheld).toEqual([])
    expect(watch.figuresOf(b)).toMatchObject({ delivered: 2, late: 1, withheld: 0 })
  })

  it('says it of every host when the archive had what none of them brought', () => {
    const { bring, pass, withheld } = script()
    for (const n of [0, 2, 3]) for (const host of [a, b]) bring(host, n)
    bring(undefined, 1)
    pass(1)
    for (const host of [a, b]) bring(host, 4)
    pass(60_000)
    expect(withheld.map(({ hostId, deliveredBy }) => [hostId, deliveredBy])).toEqual([
      [a, []],
      [b, []],
    ])
  })

  it('does not expect what was published long before the newest, as after an absence', () => {
    const { bring, pass, withheld, asked } = script()
    for (const host of [a, b]) bring(host, 11)
    // Eleven seconds before it by the publisher's clock.
    bring(undefined, 0)
    pass(1)
    for (const host of [a, b]) bring(host, 10)
    pass(60_000)
    expect([withheld, asked]).toEqual([[], []])
  })

  it('says nothing of what was on its way when the link was lost, nor of what came before it was there', () => {
    const { bring, pass, withheld, watch } = script()
    for (const host of [a, b]) bring(host, 0)
    pass(100)
    bring(a, 1)
    watch.gone(partId, b)
    for (const n of [2, 3]) bring(a, n, [a])
    pass(100)
    bring(a, 4)
    bring(b, 4)
    bring(a, 5)
    bring(b, 5)
    pass(60_000)
    expect(withheld).toEqual([])
  })

  it('does not expect what was published before a host was there, which another may tell only now', () => {
    const { bring, pass, withheld, asked, world } = script()
    bring(a, 0)
    pass(1_000)
    bring(b, 0)
    world.ageMs = 1_500
    bring(a, 1)
    world.ageMs = 0
    pass(1_000)
    for (const host of [a, b]) bring(host, 2)
    pass(60_000)
    expect([withheld, asked]).toEqual([[], []])
  })

  it('does not expect what may be old, as clocks are not alike', () => {
    const { bring, pass, withheld, world } = script({ hostClockMs: 2_000 })
    for (const host of [a, b]) bring(host, 0)
    pass(1_999)
    bring(a, 1)
    pass(10_000)
    // By a clock that is ahead.
    world.ageMs = -2_001
    bring(a, 2)
    world.ageMs = 0
    bring(a, 3)
    pass(1)
    for (const host of [a, b]) bring(host, 4)
    pass(60_000)
    expect(withheld.map(({ ranges }) => ranges[0]?.upTo.timestamp)).toEqual([startMs + 3_000])
  })

  it('blames no host that may not have heard the question, and one that goes on without an answer', () => {
    const { bring, pass, withheld, asked, world } = script()
    world.answers = false
    for (const host of [a, b]) bring(host, 0)
    bring(a, 1)
    pass(1)
    for (const host of [a, b]) bring(host, 2)
    pass(networkLimits.hostWithholdsMs + 1_000)
    expect([asked.length, withheld.length]).toEqual([2, 0])
    for (const host of [a, b]) bring(host, 3)
    pass(networkLimits.hostWatchMs)
    expect(withheld.map(({ messages }) => messages)).toEqual([1])
  })

  it('blames no host that answered only what it was asked before', () => {
    const { bring, pass, withheld, watch, world } = script()
    world.answers = false
    for (const host of [a, b]) bring(host, 0)
    bring(a, 1)
    pass(1)
    for (const host of [a, b]) bring(host, 2)
    pass(networkLimits.hostWithholdsMs + 1_000)
    watch.answered(partId, b, 3 * networkLimits.hostAskMs)
    pass(networkLimits.hostWatchMs)
    expect(withheld).toEqual([])
    watch.answered(partId, b, 3 * networkLimits.hostAskMs + 2 * networkLimits.hostWatchMs)
    pass(networkLimits.hostWatchMs)
    expect(withheld.map(({ messages }) => messages)).toEqual([1])
  })

  it('blames no host that could not be asked, until it was', () => {
    const { bring, pass, withheld, asked, world } = script()
    world.isBusy = true
    for (const host of [a, b]) bring(host, 0)
    bring(a, 1)
    pass(1)
    for (const n of [2, 3]) {
      for (const host of [a, b]) bring(host, n)
      pass(networkLimits.hostWithholdsMs)
    }
    expect([asked, withheld]).toEqual([[], []])
    world.isBusy = false
    pass(networkLimits.hostWatchMs * 3)
    expect(asked.map(({ upTo }) => upTo)).toEqual([[1], [1]])
    expect(withheld.map(({ messages }) => messages)).toEqual([1])
  })

  it('asks for as much at once as a question takes, and for the rest then', () => {
    const { pass, withheld, asked, watch } = script()
    const many = Array.from({ length: 202 }, (_, i) => batchAt([startMs + 2 * i]))
    const newest = { timestamp: startMs, sequenceNumber: 0 }
    for (const [i, batch] of many.entries()) {
      watch.accepted({ streamPartId: partId, hosts: [a, b], batch, from: a, newest }, i)
      if (i === 0 || i === 201) watch.again(partId, batch, b, i)
    }
    pass(60_000)
    expect(Math.max(...asked.map(({ upTo }) => upTo.length))).toBeLessThanOrEqual(64)
    const places = asked.flatMap(({ upTo }) => upTo)
    expect(places).toHaveLength(2 * new Set(places).size)
    expect(withheld.reduce((sum, { messages }) => sum + messages, 0)).toBe(200)
  })

  it('expects nothing of the time in which a host was silent', () => {
    const { bring, pass, withheld, lines } = script()
    for (const host of [a, b]) bring(host, 0)
    for (const n of [1, 2, 3]) {
      bring(a, n)
      pass(15_000)
    }
    expect(lines).toEqual(['2 silent'])
    for (const host of [a, b]) bring(host, 4)
    pass(60_000)
    expect(withheld).toEqual([])
  })

  it('calls a host silent that brings nothing while another does, once', () => {
    const { bring, pass, withheld, lines } = script()
    for (const host of [a, b]) bring(host, 0)
    for (const n of [1, 2, 3, 4]) {
      bring(a, n)
      pass(20_000)
    }
    expect(lines).toEqual(['2 silent'])
    expect(withheld).toEqual([])
    bring(b, 5)
    bring(a, 6)
    pass(60_000)
    expect(lines).toEqual(['2 silent', '2 silent'])
  })

  it('calls a host slow whose messages come much later on average', () => {
    const { watch, lines } = script()
    const many = Array.from({ length: 40 }, (_, i) => batchAt([startMs + i], { publisher: identityOf(3) }))
    let nowMs = 0
    for (const batch of many) {
      const newest = batch.messages[0] ?? { timestamp: 0, sequenceNumber: 0 }
      watch.accepted({ streamPartId: partId, hosts: [a, b], batch, from: a, newest }, nowMs)
      watch.again(partId, batch, b, (nowMs += 5_000))
    }
    expect(lines).toEqual(['2 slow'])
    expect(watch.figuresOf(b).lagMs).toBeGreaterThan(networkLimits.hostSlowMs)
  })

  it('watches a bounded number of batches', () => {
    const { bring, counters } = script({ hostClockMs: 0, maxWatchedBatches: 4 })
    for (const host of [a, b]) bring(host, 0)
    for (let n = 1; n < 10; n++) bring(a, n)
    expect(counters['hosts.unwatched']).toBe(5)
  })

  it('never blames a host that brings everything in a few seconds, in any order, and always one that leaves something out', () => {
    const order = fc.array(fc.nat(4_000), { minLength: 12, maxLength: 12 })
    fc.assert(
      fc.property(order, order, fc.option(fc.integer({ min: 1, max: 6 })), (ofA, ofB, leftOut) => {
        const { bring, pass, withheld } = script()
        for (const host of [a, b]) bring(host, 0)
        const events = [ofA, ofB].flatMap((delays, host) =>
          delays.map((delay, n) => ({ atMs: 1_000 * n + delay, host: host === 0 ? a : b, n })),
        )
        let nowMs = 0
        for (const { atMs, host, n } of events.sort((x, y) => x.atMs - y.atMs)) {
          pass(atMs - nowMs)
          nowMs = atMs
          if (n > 0 && (host === a || n !== leftOut)) bring(host, n)
        }
        pass(1)
        // The stream goes on, and both bring it.
        pass(40_000)
        const places = withheld.map(({ hostId, ranges, messages }) => [
          hostId,
          (ranges[0]?.upTo.timestamp ?? 0) - startMs,
          messages,
        ])
        expect(places).toEqual(leftOut === null ? [] : [[b, 1_000 * leftOut, 1]])
      }),
      { numRuns: 200 },
    )
  })
})
