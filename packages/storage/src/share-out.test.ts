import { Shares, toStreamId, type StreamId } from '@runnel/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ownerOf, shareOut } from './share-out.ts'
import { nodeId } from './store/batches.testkit.ts'

describe('shareOut', () => {
  it('keeps what trying every item would', () => {
    const owners = fc.array(fc.nat(6), { maxLength: 60 })
    fc.assert(
      fc.property(owners, fc.integer({ min: 1, max: 20 }), (list, max) => {
        const items = list.map((owner, index) => toStreamId(`${nodeId(owner)}/${index}`))
        const every = new Shares<StreamId>({ max, evict: 'newest' })
        for (const item of items) every.add(item, ownerOf(item))
        expect(shareOut(items, max)).toEqual(items.filter((item) => every.has(item)))
      }),
      { numRuns: 500 },
    )
  })
})
