import { compareRefs, type MessageRef, type StreamMessage } from '@runnel/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { idOf, streamId } from '../core.testkit.ts'
import { ChainOrder, chainOrderLimits, type ChainOrderLimits, type Ordered } from './chain-order.ts'

const chain = { streamId, partition: 0, publisherId: idOf(1), messageChainId: 'c' }
const at = (timestamp: number): MessageRef => ({ timestamp, sequenceNumber: 0 })

const message = (timestamp: number, previous?: number, contentBytes = 1): StreamMessage => ({
  ...chain,
  ...at(timestamp),
  previous: previous === undefined ? undefined : at(previous),
  contentType: 0,
  encryptionType: 0,
  groupKeyId: '',
  content: new Uint8Array(contentBytes),
})

/** An order, and the places that are said to be missing. */
function setUp(missing: readonly number[] = [], limits: Partial<ChainOrderLimits> = {}) {
  const places = new Set(missing)
  const isMissing = (_: unknown, place: MessageRef) => places.has(place.timestamp)
  return { order: new ChainOrder({ ...chainOrderLimits, ...limits }, { isMissing }), missing: places }
}

const text = (items: readonly Ordered[]) =>
  items.map((item) =>
    item.kind === 'message'
      ? String(item.message.timestamp)
      : `(${item.after.timestamp},${item.upTo.timestamp}]`,
  )

describe('ChainOrder', () => {
  it('delivers what comes in order at once', () => {
    const { order } = setUp()
    expect(text([...order.push(message(1)), ...order.push(message(2, 1))])).toEqual(['1', '2'])
    expect(order.held).toBe(0)
  })

  it('begins in the middle of a chain, and drops what was before', () => {
    const { order } = setUp()
    expect(text(order.push(message(5, 4)))).toEqual(['5'])
    expect(order.push(message(4, 3))).toEqual([])
    expect(order.counters.late).toBe(1)
  })

  it('holds what comes too early until what is missing has come', () => {
    const { order, missing } = setUp([2, 3])
    order.push(message(1))
    expect(order.push(message(4, 3))).toEqual([])
    expect(order.push(message(5, 4))).toEqual([])
    missing.delete(3)
    expect(order.push(message(3, 2))).toEqual([])
    expect(order.held).toBe(3)
    missing.delete(2)
    expect(text(order.push(message(2, 1)))).toEqual(['2', '3', '4', '5'])
    expect(order.held).toBe(0)
  })

  it('goes on behind a gap that is given up, and says which it was', () => {
    const { order, missing } = setUp([2, 3])
    order.push(message(1))
    order.push(message(4, 3))
    missing.clear()
    expect(text(order.gap(chain, at(1), at(3)))).toEqual(['(1,3]', '4'])
    expect(order.push(message(3, 2))).toEqual([])
    expect(order.counters.late).toBe(1)
  })

  it('waits at the beginning too, when the node says that something is missing there', () => {
    const { order, missing } = setUp([1])
    expect(order.push(message(2, 1))).toEqual([])
    missing.clear()
    expect(text(order.gap(chain, at(0), at(1)))).toEqual(['(0,1]', '2'])
  })

  it('drops from a live chain what came by another way', () => {
    const { order } = setUp([3])
    expect(order.push(message(4, 3))).toEqual([])
    expect(text(order.start(chain, at(3)))).toEqual(['4'])
    expect(order.push(message(3, 2))).toEqual([])
  })

  it('passes over the oldest gap when too much is held, and says so', () => {
    const { order } = setUp([2, 5], { maxHeldMessages: 2 })
    order.push(message(1))
    order.push(message(3, 2))
    order.push(message(4, 3))
    expect(text(order.push(message(6, 5)))).toEqual(['(1,2]', '3', '4'])
    expect(order.held).toBe(1)
    expect(order.counters.passedOver).toBe(1)
    const bytes = setUp([2], { maxHeldBytes: 99 })
    bytes.order.push(message(1))
    expect(text(bytes.order.push(message(3, 2, 100)))).toEqual(['(1,2]', '3'])
  })

  it('keeps chains apart, and forgets the one unused longest', () => {
    const { order } = setUp([], { maxOrderedChains: 2 })
    const of = (messageChainId: string, timestamp: number) => ({ ...message(timestamp), messageChainId })
    for (const [id, timestamp] of [
      ['a', 5],
      ['b', 5],
      ['c', 5],
    ] as const) {
      expect(order.push(of(id, timestamp))).toHaveLength(1)
    }
    expect(order.push(of('c', 4))).toHaveLength(0)
    expect(order.push(of('a', 4))).toHaveLength(1)
  })

  it('looks again at what it holds when that is asked for', () => {
    const { order, missing } = setUp([2])
    order.push(message(1))
    order.push(message(3, 2))
    expect(order.recheck()).toEqual([])
    missing.clear()
    expect(text(order.recheck())).toEqual(['(1,2]', '3'])
  })

  it('flushes all that is held', () => {
    const { order } = setUp([2, 5])
    order.push(message(1))
    order.push(message(3, 2))
    order.push(message(6, 5))
    expect(text(order.flush())).toEqual(['(1,2]', '3', '(3,5]', '6'])
    expect(order.held).toBe(0)
  })

  it('gives every message once and in order, and each gap exactly, whatever comes when', () => {
    const run = fc.record({
      count: fc.integer({ min: 1, max: 40 }),
      lost: fc.uniqueArray(fc.integer({ min: 2, max: 40 })),
      seed: fc.array(fc.nat(), { minLength: 40, maxLength: 40 }),
    })
    fc.assert(
      fc.property(run, ({ count, lost, seed }) => {
        const all = Array.from({ length: count }, (_, i) => message(i + 1, i === 0 ? undefined : i))
        const arriving = all.filter(({ timestamp }) => !lost.includes(timestamp))
        const shuffled = arriving
          .map((item, i) => ({ item, key: seed[i] ?? 0 }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ item }) => item)
        const { order, missing } = setUp(all.map(({ timestamp }) => timestamp))
        const out: Ordered[] = []
        for (const item of shuffled) {
          missing.delete(item.timestamp)
          out.push(...order.push(item), ...order.push(item))
        }
        missing.clear()
        out.push(...order.gap(chain, at(0), at(count)))
        const places = out.flatMap((item) => (item.kind === 'message' ? [item.message] : []))
        expect(places).toEqual(arriving)
        for (const item of out) {
          if (item.kind === 'message') continue
          for (let place = item.after.timestamp + 1; place <= item.upTo.timestamp; place++) {
            expect(lost).toContain(place)
          }
        }
        for (const [i, place] of places.entries()) {
          if (i > 0) expect(compareRefs(places[i - 1] ?? place, place)).toBeLessThan(0)
        }
        expect(order.held).toBe(0)
      }),
    )
  })
})
