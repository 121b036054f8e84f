import { compareRefs, type MessageBatch, type NodeId, type StreamMessage } from '@runnel/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { at, chainOf, inOrder, streamId } from './batches.testkit.ts'
import { BatchMerge, compareMessages, type MergeLimits } from './merge.ts'

const limits: MergeLimits = { maxHeldBytes: 1_000_000, maxMergedChains: 100, maxEvidence: 2 }

/** A batch as the merge sees it: what is signed it does not look at. */
function batch(
  chainId: string,
  places: readonly (readonly [number, number])[],
  contentBytes = 1,
): MessageBatch {
  const chain = {
    streamId,
    partition: 0,
    publisherId: `0x${'1'.repeat(40)}` as NodeId,
    messageChainId: chainId,
  }
  const messages: StreamMessage[] = places.map(([timestamp, sequenceNumber], i) => {
    const before = places[i - 1]
    return {
      ...chain,
      ...at(timestamp, sequenceNumber),
      previous: before && at(...before),
      contentType: 0,
      encryptionType: 0,
      groupKeyId: '',
      content: new Uint8Array(contentBytes),
    }
  })
  const none = new Uint8Array()
  return {
    chain,
    messages,
    signatureType: 1,
    delegationRef: undefined,
    signature: none,
    bytes: none,
    headerEnd: 0,
    messageOffsets: [],
  }
}

const single = (chainId: string, ...timestamps: number[]) =>
  batch(
    chainId,
    timestamps.map((timestamp) => [timestamp, 0] as const),
  )

/** Merges sources, each advanced only when the merge asks for it. */
function mergeAll(
  sources: readonly (readonly MessageBatch[])[],
  merge = new BatchMerge(limits),
): StreamMessage[] {
  const rest = sources.map((batches) => [...batches])
  const out: StreamMessage[] = []
  rest.forEach((_, source) => merge.add(source))
  for (;;) {
    const behind = merge.behind()
    for (const source of behind) {
      const next = rest[source]?.shift()
      if (next === undefined) merge.end(source)
      else merge.push(source, next, next.messages)
    }
    if (behind.length > 0) continue
    const candidate = merge.next()
    if (candidate === undefined) return out
    out.push(candidate.message)
    merge.take()
  }
}

const text = (messages: readonly StreamMessage[]) =>
  messages.map(({ messageChainId, timestamp }) => `${messageChainId}${timestamp}`).join(' ')

describe('BatchMerge', () => {
  it('takes the one of two messages that counts, whoever has it, and tells of them a few times', () => {
    const [shorter, longer] = [0, 20].map((contentBytes) => chainOf([1, 2, 3], { contentBytes }))
    for (const sources of [
      [shorter, longer],
      [longer, shorter],
    ]) {
      const merge = new BatchMerge(limits)
      const merged = mergeAll(
        sources.map((batches) => batches ?? []),
        merge,
      )
      expect(merged.map(({ content }) => content.length)).toEqual([3, 3, 3])
      const found = merge.contradictions()
      expect(found.map(({ place }) => place)).toEqual([at(1), at(2)])
      expect(found[0]).toMatchObject({ winner: { batch: shorter?.[0] }, loser: { batch: longer?.[0] } })
      expect(merge.contradictions()).toEqual([])
    }
  })

  it('tells of others, too, while those it told of were not counted, because somebody forged them', () => {
    const merge = new BatchMerge(limits)
    const [one, other] = [0, 20].map((contentBytes) => chainOf([1, 2, 3, 4, 5], { contentBytes }))
    const places: number[] = []
    for (const [source, batches] of [one, other].entries()) {
      merge.add(source)
      for (const batch of batches ?? []) merge.push(source, batch, batch.messages)
      merge.end(source)
    }
    for (let candidate = merge.next(); candidate !== undefined; candidate = merge.next()) {
      const found = merge.contradictions().map(({ place }) => place.timestamp)
      // The first three are forged.
      for (const place of found) if (place > 3) merge.countEvidence()
      places.push(...found)
      merge.take()
    }
    places.push(...merge.contradictions().map(({ place }) => place.timestamp))
    expect(places).toEqual([1, 2, 3, 4, 5])
  })

  it('does not take the same messages in other batches for different ones', () => {
    const merge = new BatchMerge(limits)
    mergeAll([chainOf([1, 2, 3]), chainOf([1, 2, 3], { perBatch: 2 })], merge)
    expect([merge.contradictions(), merge.counters.duplicates]).toEqual([[], 3])
  })

  it('puts batches of several chains in order, also where they overlap', () => {
    const source = [single('a', 1, 5, 9), single('b', 2, 6), single('c', 5), single('b', 7)]
    expect(text(mergeAll([source]))).toBe('a1 b2 a5 c5 b6 b7 a9')
  })

  it('takes from each source what the others lack, and everything once', () => {
    const merge = new BatchMerge(limits)
    const all = [1, 2, 3, 4].map((place) => single('a', place))
    const merged = mergeAll(
      [all.slice(0, 2), all.slice(1), [all[0], all[3]].flatMap((it) => it ?? [])],
      merge,
    )
    expect(text(merged)).toBe('a1 a2 a3 a4')
    expect(merge.counters.duplicates).toBe(3)
  })

  it('asks only sources that could still bring something earlier', () => {
    const merge = new BatchMerge(limits)
    merge.add(0)
    merge.add(1)
    expect(merge.behind()).toEqual([0, 1])
    merge.push(0, single('a', 5), single('a', 5).messages)
    expect(merge.behind()).toEqual([0, 1])
    merge.push(1, single('b', 3), single('b', 3).messages)
    expect(merge.behind()).toEqual([1])
    merge.end(1)
    expect(merge.behind()).toEqual([])
    expect(merge.next()?.message.messageChainId).toBe('b')
  })

  it('says what was taken of the chain before, for gaps to be seen', () => {
    const merge = new BatchMerge(limits)
    merge.add(0)
    for (const next of [single('a', 1), single('a', 4)]) merge.push(0, next, next.messages)
    merge.end(0)
    expect(merge.next()?.after).toBeUndefined()
    merge.take()
    expect(merge.next()?.after).toEqual(at(1))
    merge.mark(single('a', 3).messages[0] as StreamMessage)
    expect(merge.next()?.after).toEqual(at(3))
  })

  it('drops what is left of a batch that is not what it says', () => {
    const merge = new BatchMerge(limits)
    merge.add(0)
    const [bad, good] = [single('a', 1, 2), single('b', 2)]
    merge.push(0, bad, bad.messages)
    merge.push(0, good, good.messages)
    merge.end(0)
    merge.discard()
    expect(merge.next()?.message.messageChainId).toBe('b')
  })

  it('holds no more than it may: the order is then kept within each chain only', () => {
    const merge = new BatchMerge({ ...limits, maxHeldBytes: 150 })
    const wide = (chainId: string, from: number) =>
      batch(
        chainId,
        [
          [from, 0],
          [1_000 + from, 0],
        ],
        50,
      )
    const merged = mergeAll(
      [[wide('a', 1), wide('b', 2), wide('c', 3), single('d', 500), single('a', 2_000)]],
      merge,
    )
    expect(merge.counters.unordered).toBeGreaterThan(0)
    for (const chainId of ['a', 'b', 'c', 'd']) {
      const chain = merged.filter((message) => message.messageChainId === chainId)
      expect(chain).toEqual(chain.toSorted(compareRefs))
    }
    expect(merged).toHaveLength(8)
  })

  it('waits for a source that lags, even beyond what it may hold: it may have what comes before in the chain', () => {
    const merge = new BatchMerge({ ...limits, maxHeldBytes: 150 })
    const wide = ['a', 'b'].map((chainId) =>
      batch(
        chainId,
        [
          [3, 0],
          [1_000, 0],
        ],
        50,
      ),
    )
    const late = single('a', 2)
    merge.add(0)
    merge.add(1)
    for (const next of wide) merge.push(0, next, next.messages)
    expect(merge.behind()).toEqual([1])
    merge.push(1, late, late.messages)
    expect(text(mergeAll([], merge))).toBe('a2 a3 b3 a1000 b1000')
  })

  it('forgets the chain unused longest, and takes nothing of it twice', () => {
    const merge = new BatchMerge({ ...limits, maxMergedChains: 2 })
    const source = ['a', 'b', 'c', 'd'].map((chainId, i) => single(chainId, i + 1))
    expect(text(mergeAll([source, source], merge))).toBe('a1 b2 c3 d4')
  })

  it('gives the sorted union of any split of any messages over any sources', () => {
    const place = fc.tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 2 }))
    const chains = fc.array(fc.uniqueArray(place, { selector: ([a, b]) => a * 10 + b, maxLength: 25 }), {
      minLength: 1,
      maxLength: 4,
    })
    const seeds = fc.array(fc.nat(999), { minLength: 200, maxLength: 200 })
    fc.assert(
      fc.property(chains, seeds, fc.integer({ min: 1, max: 3 }), (drawn, seed, sourceCount) => {
        let used = 0
        const next = (below: number) => (seed[used++ % seed.length] ?? 0) % below
        const batches = drawn.flatMap((places, i) => {
          const ordered = places.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])
          const out: MessageBatch[] = []
          for (let from = 0; from < ordered.length;) {
            const length = 1 + next(4)
            out.push(batch(`c${i}`, ordered.slice(from, from + length)))
            from += length
          }
          return out
        })
        // Each batch is in at least one source.
        const held = batches.map(() => 1 + next(2 ** sourceCount - 1))
        const sources = Array.from({ length: sourceCount }, (_, source) =>
          inOrder(batches.filter((_, i) => ((held[i] ?? 0) >> source) & 1)),
        )
        const expected = batches.flatMap(({ messages }) => messages).toSorted(compareMessages)
        expect(mergeAll(sources)).toEqual(expected)
      }),
    )
  })
})
