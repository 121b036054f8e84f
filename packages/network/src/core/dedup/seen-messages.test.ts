import { describe, expect, it } from 'vitest'
import { networkLimits, type NetworkLimits } from '../../limits.ts'
import { batchAt, identityOf, idOf, startMs } from '../core.testkit.ts'
import { newCounters } from '../counter-names.ts'
import { SeenMessages } from './seen-messages.ts'

const watch = {
  opened: () => undefined,
  split: () => undefined,
  closed: () => undefined,
  unreachable: () => undefined,
  chainForgotten: () => undefined,
}
const at = (offsetMs: number) => ({ timestamp: startMs + offsetMs, sequenceNumber: 0 })
const seenMessages = (limits: Partial<NetworkLimits> = {}, counters = newCounters()) =>
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
    expect(seen.find(batchAt([startMs], { chainId: 'b' }).chain)).toBeUndefined()
  })

  it('forgets chains of the publisher that has most, and takes nothing of theirs twice', () => {
    const counters = newCounters()
    const seen = seenMessages({ maxChains: 10 }, counters)
    const honest = [identityOf(11), identityOf(12)].map((publisher) => batchAt([startMs], { publisher }))
    for (const batch of honest) seen.mark(batch, undefined, startMs)
    const many = Array.from({ length: 100 }, (_, i) => batchAt([startMs + i], { chainId: `many ${i}` }))
    for (const [i, batch] of many.entries()) seen.mark(batch, undefined, startMs + 1 + i)
    expect([seen.chains, counters['dedup.chainsDropped']]).toEqual([10, 92])
    for (const batch of honest) expect(seen.hasNew(batch)).toBe(false)
    for (const batch of many.slice(0, 92)) expect(seen.refusalOf(batch, startMs)).toBe('data.forgotten')
    for (const batch of many.slice(92)) expect(seen.hasNew(batch)).toBe(false)
    const next = batchAt([startMs + 200], { chainId: 'next' })
    expect(seen.refusalOf(next, startMs)).toBeUndefined()
    expect(seen.mark(next, undefined, startMs)).toHaveLength(1)
  })

  it('lets newcomers in where all publishers have as many chains, and never forgets a chain of its own', () => {
    const seen = seenMessages({ maxChains: 3 })
    const own = batchAt([startMs], { publisher: identityOf(20) })
    seen.own(own.chain)
    seen.mark(own, undefined, 1)
    const others = [21, 22, 23].map((key) => batchAt([startMs], { publisher: identityOf(key) }))
    for (const [i, batch] of others.entries()) seen.mark(batch, undefined, 2 + i)
    expect(seen.chains).toBe(3)
    expect([own, ...others].map((batch) => seen.find(batch.chain) !== undefined)).toEqual([
      true,
      false,
      true,
      true,
    ])
  })

  it('forgets one chain each of several publishers that have equally many: to find them it looks at all', () => {
    const counters = newCounters()
    const seen = seenMessages({ maxChains: 300 }, counters)
    const batchOf = (key: number, chainId: string) =>
      batchAt([startMs], { publisher: identityOf(key), chainId })
    let nowMs = startMs
    for (const chainId of ['a', 'b', 'c'])
      for (let key = 1; key <= 100; key++) seen.mark(batchOf(key, chainId), undefined, nowMs++)
    seen.mark(batchOf(101, 'a'), undefined, nowMs++)
    expect([seen.chains, counters['dedup.chainsDropped']]).toEqual([298, 3])
    const isKept = (key: number, chainId: string) => seen.find(batchOf(key, chainId).chain) !== undefined
    expect([1, 2, 3, 4].map((key) => [isKept(key, 'a'), isKept(key, 'b')])).toEqual([
      ...Array.from({ length: 3 }, () => [false, true]),
      [true, true],
    ])
  })

  it('takes over what is known of forgotten chains', () => {
    const seen = seenMessages({ maxChains: 1 })
    const batches = ['a', 'b'].map((chainId) => batchAt([startMs], { chainId }))
    for (const [i, batch] of batches.entries()) seen.mark(batch, undefined, i)
    const fresh = seenMessages({ maxChains: 1 })
    fresh.resume(seen, startMs)
    const [forgotten, kept] = batches.map((batch) => fresh.hasNew(batch) && fresh.refusalOf(batch, startMs))
    expect([forgotten, kept]).toEqual(['data.forgotten', false])
  })

  it('remembers only so many publishers of forgotten chains', () => {
    const counters = newCounters()
    const seen = seenMessages({ maxChains: 1, maxForgottenPublishers: 2 }, counters)
    for (const key of [21, 22, 23, 24])
      seen.mark(batchAt([startMs], { publisher: identityOf(key) }), undefined, 1)
    expect(counters['dedup.publishersForgotten']).toBe(1)
  })

  it('refuses what is too old to be live, unless it fills a gap', () => {
    const maxLiveAgeMs = 1_000
    const seen = seenMessages({ maxLiveAgeMs })
    const nowMs = startMs + 5_000
    expect(seen.refusalOf(batchAt([startMs + 3_999]), nowMs)).toBe('data.tooOld')
    expect(seen.refusalOf(batchAt([startMs + 4_000]), nowMs)).toBeUndefined()
    seen.mark(batchAt([startMs]), undefined, startMs)
    seen.mark(batchAt([startMs + 5_000], { previous: at(4_000) }), undefined, nowMs)
    expect(seen.refusalOf(batchAt([startMs + 10], { previous: at(0) }), nowMs)).toBeUndefined()
    expect(seen.refusalOf(batchAt([startMs + 5_001], { previous: at(5_000) }), nowMs + 9_000)).toBe(
      'data.tooOld',
    )
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
