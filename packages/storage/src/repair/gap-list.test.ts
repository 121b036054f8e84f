import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chainOf, nodeId, partOf } from '../store/batches.testkit.ts'
import { GapList } from './gap-list.ts'

const gap = (fromMs: number, toMs: number, publisher = 1, chainId = 'c') => ({
  ...{ streamPartId: partOf(0), chain: chainOf(chainId, nodeId(publisher)), fromMs, toMs },
})

describe('GapList', () => {
  it('asks only for what is missing, and for nothing that it has asked for', () => {
    const spans = fc.array(fc.tuple(fc.nat(50), fc.nat(20)), { maxLength: 20 })
    fc.assert(
      fc.property(spans, (list) => {
        const gaps = new GapList({ max: 10, maxTries: 1 })
        let [lastFrom, lastTo] = [Infinity, -Infinity]
        for (const [fromMs, length] of list) {
          const toMs = fromMs + length
          const isTaken = gaps.add(gap(fromMs, toMs))
          if (fromMs >= lastFrom && toMs <= lastTo) expect(isTaken).toBe(false)
          for (const next of gaps.nextOnes()) {
            expect(next.fromMs).toBeGreaterThanOrEqual(fromMs)
            expect(next.toMs).toBeLessThanOrEqual(toMs)
            gaps.tried(next, true)
          }
          ;[lastFrom, lastTo] = [fromMs, toMs]
        }
        expect(gaps.size).toBe(0)
      }),
    )
  })

  it('asks again when not all answered, some times', () => {
    const gaps = new GapList({ max: 10, maxTries: 2 })
    gaps.add(gap(1, 5))
    gaps.tried(gap(1, 5), false)
    expect(gaps.nextOnes()).toMatchObject([{ fromMs: 1, toMs: 5 }])
    gaps.tried(gap(1, 5), false)
    expect(gaps.nextOnes()).toEqual([])
    expect(gaps.add(gap(2, 4))).toBe(false)
  })

  it('gives each publisher its share, and one turn at a time', () => {
    const gaps = new GapList({ max: 4, maxTries: 1 })
    for (let i = 0; i < 10; i++) gaps.add(gap(1, 2, 1, `c${i}`))
    expect(gaps.size).toBe(4)
    expect(gaps.add(gap(1, 2, 2))).toBe(true)
    expect(gaps.size).toBe(4)
    expect(gaps.nextOnes().map(({ chain }) => chain.messageChainId)).toEqual(['c0', 'c'])
  })

  it('forgets what is of a stream part that is kept no more', () => {
    const gaps = new GapList({ max: 4, maxTries: 1 })
    gaps.add(gap(1, 2))
    gaps.forget(partOf(0))
    expect(gaps.size).toBe(0)
    expect(gaps.add(gap(1, 2))).toBe(true)
  })
})
