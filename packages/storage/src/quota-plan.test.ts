import { keyPartition, toStreamPartId, toStreamId, type StreamPartId } from '@runnel/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { levelFor, planQuota } from './quota-plan.ts'
import { ownerOf } from './share-out.ts'
import { nodeId } from './store/batches.testkit.ts'

const part = (owner: number, path: string, partition = 0) =>
  toStreamPartId(toStreamId(`${nodeId(owner)}/${path}`), partition)
const parts = (...sizes: readonly (readonly [StreamPartId, number])[]) =>
  sizes.map(([streamPartId, bytes]) => ({ streamPartId, bytes, addedBytes: 0 }))
const roomy = { maxBytes: 1_000_000, maxBytesPerStream: 1_000_000 }

describe('planQuota', () => {
  it('asks nothing of anybody while there is room', () => {
    const stored = parts([part(1, 'a'), 400_000], [part(2, 'a'), 600_000])
    expect([...planQuota(stored, roomy)]).toEqual([])
  })

  it('has the owner with the most give way, and of its stream parts the largest', () => {
    const stored = parts([part(1, 'a'), 700_000], [part(1, 'b'), 50_000], [part(2, 'a'), 300_000])
    expect([...planQuota(stored, roomy)]).toEqual([[part(1, 'a'), 615_000]])
  })

  it('counts what is about to be added to who adds it', () => {
    const stored = parts([part(1, 'a'), 500_000], [part(2, 'a'), 500_000])
    const adding = stored.map((one, index) => ({ ...one, addedBytes: index * 100_000 }))
    expect([...planQuota(adding, roomy)]).toEqual([[part(2, 'a'), 375_000]])
  })

  it('has a stream give way that is over its own cap, and no other', () => {
    const caps = { ...roomy, maxBytesPerStream: 100_000 }
    const stored = parts([part(1, 'a'), 60_000], [part(1, 'a', 1), 60_000], [part(1, 'b'), 99_000])
    expect([...planQuota(stored, caps)]).toEqual([
      [part(1, 'a'), 47_500],
      [part(1, 'a', 1), 47_500],
    ])
  })

  it('leaves the keys of a stream as long as there are messages that can go, up to half of the room', () => {
    const caps = { ...roomy, maxBytesPerStream: 100_000 }
    const of = (messages: number, keys: number) => [
      ...planQuota(parts([part(1, 'a'), messages], [part(1, 'a', keyPartition), keys]), caps),
    ]
    expect(of(90_000, 40_000)).toEqual([[part(1, 'a'), 55_000]])
    expect(of(50_000, 200_000)).toEqual([
      [part(1, 'a'), 47_500],
      [part(1, 'a', keyPartition), 47_500],
    ])
    expect(of(10_000, 200_000)).toEqual([[part(1, 'a', keyPartition), 85_000]])
  })

  it('takes nothing from an owner within its share, and makes enough room', () => {
    const sizes = fc.array(fc.tuple(fc.nat(4), fc.nat(3), fc.nat(500_000)), { maxLength: 20 })
    fc.assert(
      fc.property(sizes, (list) => {
        const unique = new Map(list.map(([owner, path, bytes]) => [part(owner, `${path}`), bytes]))
        const stored = parts(...unique)
        const plan = planQuota(stored, roomy)
        const left = stored.map((one) => ({ ...one, bytes: plan.get(one.streamPartId) ?? one.bytes }))
        const sum = (of: typeof stored) => of.reduce((total, { bytes }) => total + bytes, 0)
        expect(sum(left)).toBeLessThanOrEqual(Math.max(roomy.maxBytes, 0))
        const byOwner = [...Map.groupBy(stored, ({ streamPartId }) => ownerOf(streamPartId)).values()]
        const isTouched = (of: typeof stored) => of.some(({ streamPartId }) => plan.has(streamPartId))
        for (const of of byOwner) {
          if (isTouched(of)) expect(sum(of)).toBeGreaterThan(roomy.maxBytes / byOwner.length - 1)
        }
      }),
    )
  })

  it('leaves an owner nearly its share, however many others are at theirs', () => {
    const caps = { maxBytes: 100_000, maxBytesPerStream: 100_000 }
    const full = Array.from({ length: 20 }, (_, owner) => [part(owner, 'a'), 5_000] as const)
    const adding = parts(...full).map((one, index) => ({ ...one, addedBytes: index === 7 ? 1_000 : 0 }))
    expect([...planQuota(adding, caps)]).toEqual([[part(7, 'a'), 3_750]])

    const sizes = fc.array(fc.tuple(fc.nat(39), fc.nat(1), fc.nat(100_000), fc.nat(2_000)), { maxLength: 80 })
    fc.assert(
      fc.property(sizes, (list) => {
        const unique = new Map(
          list.map(([owner, path, bytes, addedBytes]) => [part(owner, `${path}`), { bytes, addedBytes }]),
        )
        const stored = [...unique].map(([streamPartId, size]) => ({ streamPartId, ...size }))
        const plan = planQuota(stored, { ...roomy, maxBytesPerStream: Infinity })
        const byOwner = [...Map.groupBy(stored, ({ streamPartId }) => ownerOf(streamPartId)).values()]
        const total = (of: typeof stored) =>
          of.reduce((sum, { bytes, addedBytes }) => sum + bytes + addedBytes, 0)
        const fairShare = levelFor(byOwner.map(total), roomy.maxBytes)
        let held = 0
        for (const of of byOwner) {
          const left = of.map((one) => ({ ...one, bytes: plan.get(one.streamPartId) ?? one.bytes }))
          held += total(left)
          // What a stream part is about to add is no matter of what is stored; each part rounds down.
          const least = Math.min(total(of), 0.95 * fairShare - of.length - 1)
          if (fairShare !== Infinity) expect(total(left)).toBeGreaterThanOrEqual(least)
          else expect(total(left)).toBe(total(of))
        }
        // What is added has room, but where it alone is more.
        const added = stored.reduce((sum, { addedBytes }) => sum + addedBytes, 0)
        expect(held).toBeLessThanOrEqual(Math.max(roomy.maxBytes, roomy.maxBytes * 0.95 + added))
      }),
    )
  })
})

describe('levelFor', () => {
  it('is what all may have at most', () => {
    expect(levelFor([], 10)).toBe(Infinity)
    expect(levelFor([3, 4], 7)).toBe(Infinity)
    expect(levelFor([3, 100, 100], 13)).toBe(5)
    expect(levelFor([5, 5], 0)).toBe(0)
  })
})
