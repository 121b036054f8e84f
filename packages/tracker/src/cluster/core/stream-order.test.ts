import { toStreamId, toStreamPartId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { nodeId } from '../../core/tracker-core.testkit.ts'
import { leaderOf, trackerOrder } from './stream-order.ts'

const [a, b, c] = [nodeId(1), nodeId(2), nodeId(3)]
const standing = (linked: readonly string[], settled: readonly string[] = linked) => ({
  isLinked: (id: string) => linked.includes(id),
  isSettled: (id: string) => settled.includes(id),
})

describe('who leads a stream part', () => {
  it('is the first that can be reached', () => {
    expect(leaderOf([a, b, c], { self: c, ...standing([a, b]) })).toBe(a)
    expect(leaderOf([a, b, c], { self: c, ...standing([b]) })).toBe(b)
    expect(leaderOf([a, b, c], { self: c, ...standing([]) })).toBe(c)
    expect(leaderOf([a, b, c], { self: a, ...standing([b, c]) })).toBe(a)
    expect(leaderOf([a, b], { self: c, ...standing([b]) })).toBe(b)
  })

  it('stays who it is until an earlier one is there for good', () => {
    expect(leaderOf([a, b], { self: b, current: b, ...standing([a], []) })).toBe(b)
    expect(leaderOf([a, b], { self: b, current: b, ...standing([a]) })).toBe(a)
    expect(leaderOf([a, b, c], { self: c, current: b, ...standing([a, b], [b]) })).toBe(b)
    expect(leaderOf([a, b, c], { self: c, current: b, ...standing([a], []) })).toBe(c)
  })

  it('is one of those the stream names, as far as they are registered', () => {
    const id = toStreamPartId(toStreamId(`0x${'ab'.repeat(20)}/own`), 0)
    expect(trackerOrder(id, [a, b], [c, b])).toEqual([b])
    expect([...trackerOrder(id, [a, b, c])].sort()).toEqual([a, b, c])
  })
})
