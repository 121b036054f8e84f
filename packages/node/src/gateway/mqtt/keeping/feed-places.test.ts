import { toNodeId, toStreamId } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { FeedPlaces, type Placed } from './feed-places.ts'

const publisherId = toNodeId(`0x${'a'.repeat(40)}`)
const streamId = toStreamId(`${publisherId}/s`)
const messageAt = (timestamp: number): Placed => ({
  ...{ streamId, partition: 0, publisherId, messageChainId: 'c' },
  ...{ timestamp, sequenceNumber: 0 },
})

it('takes what is old for missed until all that was missed is here: then a clock is behind', () => {
  const places = new FeedPlaces({ heardMs: 0, places: new Map() }, { nowMs: 100, onChanged: () => {} })
  expect([99, 100].map((atMs) => places.mayHaveMissed(messageAt(atMs)))).toEqual([true, false])
  places.failed()
  expect(places.mayHaveMissed(messageAt(99))).toBe(true)
  places.caughtUp()
  expect(places.mayHaveMissed(messageAt(99))).toBe(false)
})
