import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { networkLimits } from '../../limits.ts'
import { batchAt, identityOf, packetOf, startMs } from '../core.testkit.ts'
import { newCounters } from '../counter-names.ts'
import { SharedBytes } from '../shared-bytes.ts'
import { RecentBatches, type RecentBatchesLimits } from './recent-batches.ts'

function recent(limits: Partial<RecentBatchesLimits> = {}, shared = new SharedBytes(Infinity)) {
  const counters = newCounters()
  const cache = new RecentBatches({ ...networkLimits, ...limits }, { shared, counters })
  const add = (offsetMs: number): Uint8Array => {
    const batch = batchAt([startMs + offsetMs])
    const packet = packetOf(batch)
    cache.add(batch, packet, startMs + offsetMs)
    return packet
  }
  return { cache, counters, add, shared }
}

const size = packetOf(batchAt([startMs])).length

/** The packets that are sent again. */
const replayed = (cache: RecentBatches, ...args: Parameters<RecentBatches['replayFor']>): Uint8Array[] =>
  cache.replayFor(...args).map(({ packet }) => packet)

describe('recent batches', () => {
  it('are replayed from the age asked for, with a margin, oldest first', () => {
    const { cache, add } = recent({ replayMarginMs: 10 })
    const packets = [0, 100, 200, 300].map(add)
    expect(replayed(cache, { sinceMs: 100, heads: [] }, startMs + 300)).toEqual(packets.slice(2))
    expect(replayed(cache, { sinceMs: 190, heads: [] }, startMs + 300)).toEqual(packets.slice(1))
    expect(replayed(cache, { sinceMs: 0, heads: [] }, startMs + 300)).toEqual([])
  })

  it('that were published alone are replayed for longer, whenever the neighbour joined', () => {
    const { cache, add } = recent({ replayMarginMs: 10, maxAloneAgeMs: 1_000 })
    const alone = batchAt([startMs])
    cache.add(alone, packetOf(alone), startMs, { isAlone: true })
    add(100)
    const packets = [packetOf(alone), add(800)]
    expect(replayed(cache, { sinceMs: 1, heads: [] }, startMs + 800)).toEqual(packets)
    expect(replayed(cache, { sinceMs: 1, heads: [] }, startMs + 1_001)).toEqual([])
    expect(replayed(cache, { sinceMs: 0, heads: [] }, startMs + 800)).toEqual([])
  })

  it('are replayed only after the heads given', () => {
    const { cache, add } = recent()
    const packets = [0, 100, 200].map(add)
    const head = {
      publisherId: identityOf(7).nodeId,
      messageChainId: 'c',
      timestamp: startMs + 100,
      sequenceNumber: 0,
    }
    expect(replayed(cache, { sinceMs: 9_000, heads: [head] }, startMs + 200)).toEqual(packets.slice(2))
    const other = { ...head, messageChainId: 'other' }
    expect(replayed(cache, { sinceMs: 9_000, heads: [other] }, startMs + 200)).toEqual(packets)
  })

  it('are compared with the heads given without a look at each head for each batch', () => {
    const { cache, add } = recent()
    for (let i = 0; i < 500; i++) add(i)
    let looks = 0
    const heads = Array.from({ length: 64 }, (_, number) => ({
      publisherId: identityOf(7).nodeId,
      get messageChainId() {
        looks++
        return `other ${number}`
      },
      ...{ timestamp: startMs, sequenceNumber: 0 },
    }))
    expect(replayed(cache, { sinceMs: 9_000, heads }, startMs + 500)).toHaveLength(500)
    expect(looks).toBe(heads.length)
  })

  it('are bounded in number, and drop the oldest', () => {
    const { cache, add, counters } = recent({ maxRecentBatches: 3 })
    const packets = Array.from({ length: 10 }, (_, i) => add(i))
    expect([cache.size, counters['recent.dropped']]).toEqual([3, 7])
    expect(replayed(cache, { sinceMs: 9_000, heads: [] }, startMs + 10)).toEqual(packets.slice(7))
  })

  it('are bounded in bytes, each and together', () => {
    const { cache, add } = recent({ maxRecentBytes: size * 2 })
    for (let i = 0; i < 5; i++) add(i)
    expect(cache.bytes).toBe(size * 2)
    const shared = new SharedBytes(size * 3)
    const [first, second] = [recent({}, shared), recent({}, shared)]
    for (let i = 0; i < 2; i++) first.add(i)
    for (let i = 0; i < 5; i++) second.add(i)
    expect([first.cache.size + second.cache.size, shared.total]).toEqual([3, size * 3])
    first.cache.clear()
    expect(shared.total).toBe(second.cache.bytes)
  })

  it('are forgotten with age', () => {
    const { cache, add } = recent({ maxRecentAgeMs: 1_000 })
    add(0)
    add(500)
    expect(cache.dueMs).toBe(startMs + 1_000)
    cache.forgetOld(startMs + 1_000)
    expect([cache.size, cache.dueMs]).toEqual([1, startMs + 1_500])
  })

  it('are not replayed without bound', () => {
    const { cache, add, counters } = recent({ maxReplayBytes: size * 2 })
    const packets = [0, 1, 2].map(add)
    expect(replayed(cache, { sinceMs: 9_000, heads: [] }, startMs + 2)).toEqual(packets.slice(1))
    expect(counters['replay.truncated']).toBe(1)
  })

  it('are found without a look at all the others', () => {
    const { cache, add } = recent()
    for (let i = 0; i < 2_000; i++) add(i)
    const chain = { publisherId: identityOf(7).nodeId, messageChainId: 'c' }
    let looks = 0
    const place = (offsetMs: number) => ({
      get timestamp() {
        looks++
        return startMs + offsetMs
      },
      sequenceNumber: 0,
    })
    const ranges = [500, 1_500, 1_900].map((ms) => ({ after: place(ms), upTo: place(ms + 1) }))
    const times = cache.find({ ...chain, ranges }).batches.map(({ first }) => first.timestamp - startMs)
    expect(times).toEqual([501, 1_501, 1_901])
    expect(looks).toBeLessThan(100)
  })

  it('are found by the ranges that they reach into, as one by one would find', () => {
    const chain = { publisherId: identityOf(7).nodeId, messageChainId: 'c' }
    const places = fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 8 })
    const edges = fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { minLength: 2, maxLength: 16 })
    const apart = fc
      .uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 40 })
      .map((times) => times.toSorted((a, b) => a - b))
      .map((times) => [...Map.groupBy(times, (time) => Math.floor(time / 7)).values()].toReversed())
    fc.assert(
      fc.property(fc.oneof(fc.array(places, { maxLength: 6 }), apart), edges, (batches, cuts) => {
        const { cache } = recent()
        const added = batches.map((unsorted) => {
          const times = unsorted.toSorted((a, b) => a - b)
          const packet = packetOf(batchAt(times.map((time) => startMs + time)))
          cache.add(batchAt(times.map((time) => startMs + time)), packet, startMs)
          return { times, packet }
        })
        const sorted = cuts.toSorted((a, b) => a - b)
        const pairs = sorted.flatMap((after, i) =>
          i % 2 === 0 && sorted[i + 1] !== undefined ? [[after, sorted[i + 1]]] : [],
        )
        const ranges = pairs.map(([after = 0, upTo = 0]) => ({
          after: { timestamp: startMs + after, sequenceNumber: 0 },
          upTo: { timestamp: startMs + upTo, sequenceNumber: 0 },
        }))
        const reaches = (first = 0, last = 0) =>
          pairs.some(([after = 0, upTo = 0]) => upTo >= first && after < last)
        const expected = added
          .filter(({ times }) => reaches(times[0], times.at(-1)))
          .toSorted((a, b) => (a.times[0] ?? 0) - (b.times[0] ?? 0))
        const found = cache.find({ ...chain, ranges })
        expect(found.batches.map(({ packet }) => packet)).toEqual(expected.map(({ packet }) => packet))
      }),
    )
  })
})
