import { describe, expect, it } from 'vitest'
import { networkLimits } from '../../limits.ts'
import { batchAt, idOf, startMs } from '../core.testkit.ts'
import { newCounters } from '../counters.ts'
import { SeenMessages } from './seen-messages.ts'

const watch = { opened: () => undefined, closed: () => undefined, dropped: () => undefined }
const seenMessages = (limits: { maxChains?: number } = {}, counters = newCounters()) =>
  new SeenMessages({ limits: { ...networkLimits, ...limits }, joinedMs: 0 }, { counters, watch })

describe('seen messages', () => {
  it('keeps chains apart', () => {
    const seen = seenMessages()
    seen.mark(batchAt([startMs], { chainId: 'a' }), undefined, startMs)
    expect(seen.hasNew(batchAt([startMs], { chainId: 'a' }))).toBe(false)
    expect(seen.hasNew(batchAt([startMs], { chainId: 'b' }))).toBe(true)
  })

  it('says which messages of a batch were new', () => {
    const seen = seenMessages()
    seen.mark(batchAt([startMs, startMs + 1]), undefined, startMs)
    const fresh = seen.mark(batchAt([startMs, startMs + 1, startMs + 2]), undefined, startMs)
    expect(fresh.map(({ timestamp }) => timestamp - startMs)).toEqual([2])
  })

  it('forgets the chain unused longest when there are too many, and counts it', () => {
    const counters = newCounters()
    const seen = seenMessages({ maxChains: 2 }, counters)
    seen.mark(batchAt([startMs], { chainId: 'a' }), undefined, 1)
    seen.mark(batchAt([startMs], { chainId: 'b' }), undefined, 2)
    seen.mark(batchAt([startMs + 1], { chainId: 'a' }), undefined, 3)
    seen.mark(batchAt([startMs], { chainId: 'c' }), undefined, 4)
    expect([seen.chains, counters['dedup.chainsDropped']]).toEqual([2, 1])
    expect(seen.hasNew(batchAt([startMs], { chainId: 'a' }))).toBe(false)
    expect(seen.hasNew(batchAt([startMs], { chainId: 'b' }))).toBe(true)
  })

  it('gives the heads of chains, those used last first', () => {
    const seen = seenMessages()
    for (const [i, chainId] of ['a', 'b', 'c'].entries())
      seen.mark(batchAt([startMs + i], { chainId }), undefined, i)
    expect(seen.heads().map(({ head }) => head.messageChainId)).toEqual(['c', 'b', 'a'])
  })

  it('knows who has the newest message, until another one is the newest or they go', () => {
    const seen = seenMessages()
    const first = batchAt([startMs])
    const second = batchAt([startMs + 1])
    const holders = () => [2, 3, 4].map((n) => seen.find(first.chain)?.holders.lacks(idOf(n)) === false)
    seen.mark(first, idOf(2), startMs)
    seen.shown(idOf(3), first.chain, { timestamp: startMs, sequenceNumber: 0 })
    expect(holders()).toEqual([true, true, false])
    seen.mark(second, idOf(4), startMs + 1)
    seen.shown(idOf(3), first.chain, { timestamp: startMs, sequenceNumber: 0 })
    expect(holders()).toEqual([false, false, true])
    seen.neighbourGone(idOf(4))
    expect(holders()).toEqual([false, false, false])
  })
})
