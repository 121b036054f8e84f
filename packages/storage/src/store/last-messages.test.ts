import type { MessageRef } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { lastMessages, lookUpLimits, type BatchIndex, type IndexedBatch } from './last-messages.ts'
import { at } from './batches.testkit.ts'

interface ListedBatch extends IndexedBatch {
  readonly refs: readonly MessageRef[]
}

function listed(...times: number[]): ListedBatch {
  const [first = 0, last = first] = [times[0], times.at(-1)]
  const range = { firstTime: first, firstNumber: 0, lastTime: last, lastNumber: 0 }
  return { ...range, chain: 1, messages: times.length, refs: times.map((time) => at(time)) }
}

/** Batches of one chain in a list, with a count of how often they were read. */
class ListIndex implements BatchIndex<ListedBatch> {
  readonly #batches: readonly ListedBatch[]
  readonly #bytes: number
  readCount = 0

  constructor(batches: readonly ListedBatch[], bytes = 100) {
    this.#batches = [...batches].sort((a, b) => a.firstTime - b.firstTime || a.lastTime - b.lastTime)
    this.#bytes = bytes
  }

  newest = () => at(Math.max(...this.#batches.map(({ lastTime }) => lastTime)))
  backwards = () => this.#batches.toReversed()
  overlapping = ({ from, to }: { from: MessageRef; to: MessageRef }) =>
    this.#batches.filter((one) => one.lastTime >= from.timestamp && one.firstTime <= to.timestamp)
  bytesIn = () => this.#bytes
  messagesOf = ({ refs }: ListedBatch) => {
    this.readCount++
    return refs
  }
}

const sharing = (count: number) => Array.from({ length: count }, (_, index) => listed(1, 1000 + index))
const nested = (count: number) =>
  Array.from({ length: count }, (_, index) => listed(1 + index, 10 * count - index))

describe('lastMessages', () => {
  it('reads none of the batches that overlap nothing, and of the others each twice at most', async () => {
    const apart = new ListIndex(Array.from({ length: 500 }, (_, index) => listed(2 * index, 2 * index + 1)))
    expect(await lastMessages(apart, 400)).toEqual({ from: at(600), to: at(999), count: 400 })
    expect(apart.readCount).toBe(0)
    for (const batches of [sharing(900), nested(900)]) {
      for (const count of [1, 700, 10_000]) {
        const index = new ListIndex(batches)
        const found = await lastMessages(index, count)
        const times = [...new Set(batches.flatMap(({ refs }) => refs.map(({ timestamp }) => timestamp)))]
        times.sort((a, b) => a - b)
        expect(found?.from).toEqual(at(times.at(-count) ?? times[0] ?? 0))
        expect(found?.count).toBe(Math.min(count, times.length))
        expect(index.readCount).toBeLessThanOrEqual(2 * batches.length)
      }
    }
  })

  it('answers without reading when it would have to read too many batches, or too many bytes', async () => {
    const { maxCountedBatches, maxCountedBytes } = lookUpLimits
    const many = new ListIndex(sharing(maxCountedBatches + 1))
    expect(await lastMessages(many, 1)).toEqual({ from: at(1), to: at(1000 + maxCountedBatches), count: 0 })
    expect(many.readCount).toBeLessThanOrEqual(maxCountedBatches)
    const large = new ListIndex(sharing(11), maxCountedBytes / 10)
    expect(await lastMessages(large, 100)).toEqual({ from: at(1), to: at(1010), count: 0 })
    expect(large.readCount).toBe(10)
  })

  it('refuses nobody the last messages for what somebody else has published', async () => {
    const hostile = Array.from({ length: 11_000 }, (_, index) => ({
      ...listed(index, 60_000 + index),
      chain: 1 + index,
    }))
    const index = new ListIndex([...hostile, listed(100_000), listed(100_001)])
    expect(await lastMessages(index, 2)).toEqual({ from: at(100_000), to: at(100_001), count: 2 })
    expect(await lastMessages(index, 10)).toEqual({ from: at(10_996), to: at(100_001), count: 0 })
    expect(index.readCount).toBeLessThanOrEqual(lookUpLimits.maxCountedBatches)
  })

  it('ends as soon as it is told to', async () => {
    const going = new AbortController()
    const index = new ListIndex(sharing(100))
    const { messagesOf } = index
    index.messagesOf = (batch) => {
      if (index.readCount === 9) going.abort(new Error('gone'))
      return messagesOf(batch)
    }
    await expect(lastMessages(index, 100, going.signal)).rejects.toThrow('gone')
    expect(index.readCount).toBe(10)
  })
})
