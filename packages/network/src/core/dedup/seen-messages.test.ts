import { describe, expect, it } from 'vitest'
import { networkLimits } from '../../limits.ts'
import { batchAt, startMs } from '../core.testkit.ts'
import { newCounters } from '../counters.ts'
import { SeenMessages } from './seen-messages.ts'

const watch = { opened: () => undefined, closed: () => undefined, dropped: () => undefined }
const seenMessages = (limits: { maxChains?: number } = {}, counters = newCounters()) =>
  new SeenMessages({ limits: { ...networkLimits, ...limits }, joinedMs: 0 }, { counters, watch })

describe('seen messages', () => {
  it('keeps chains apart', () => {
    const seen = seenMessages()
    seen.mark(batchAt([startMs], { chainId: 'a' }), startMs)
    expect(seen.hasNew(batchAt([startMs], { chainId: 'a' }))).toBe(false)
    expect(seen.hasNew(batchAt([startMs], { chainId: 'b' }))).toBe(true)
  })

  it('says which messages of a batch were new', () => {
    const seen = seenMessages()
    seen.mark(batchAt([startMs, startMs + 1]), startMs)
    const fresh = seen.mark(batchAt([startMs, startMs + 1, startMs + 2]), startMs)
    expect(fresh.map(({ timestamp }) => timestamp - startMs)).toEqual([2])
  })

  it('forgets the chain unused longest when there are too many, and counts it', () => {
    const counters = newCounters()
    const seen = seenMessages({ maxChains: 2 }, counters)
    seen.mark(batchAt([startMs], { chainId: 'a' }), 1)
    seen.mark(batchAt([startMs], { chainId: 'b' }), 2)
    seen.mark(batchAt([startMs + 1], { chainId: 'a' }), 3)
    seen.mark(batchAt([startMs], { chainId: 'c' }), 4)
    expect([seen.chains, counters['dedup.chainsDropped']]).toEqual([2, 1])
    expect(seen.hasNew(batchAt([startMs], { chainId: 'a' }))).toBe(false)
    expect(seen.hasNew(batchAt([startMs], { chainId: 'b' }))).toBe(true)
  })

  it('gives the heads of the chains used last', () => {
    const seen = seenMessages()
    for (const [i, chainId] of ['a', 'b', 'c'].entries()) seen.mark(batchAt([startMs + i], { chainId }), i)
    expect(seen.heads(2).map(({ messageChainId }) => messageChainId)).toEqual(['c', 'b'])
  })
})
