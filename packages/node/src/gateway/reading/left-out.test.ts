import { clientError, type MessageGap } from '@runnel/client'
import { toNodeId, toStreamId, toStreamPartId } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { LeftOut } from './left-out.ts'

const publisherId = toNodeId(`0x${'1'.repeat(40)}`)
const streamPartId = toStreamPartId(toStreamId(`${publisherId}/a`), 0)

it('counts for each reason, and gaps, and has the place of its last', () => {
  const leftOut = new LeftOut()
  expect(leftOut.fields()).toEqual([])
  const codes = ['NO_READING_KEY', 'INVALID_JSON_CONTENT', 'NO_READING_KEY'] as const
  for (const [i, code] of codes.entries())
    leftOut.add({
      ...{ streamPartId, publisherId, messageChainId: 'c', keyId: undefined },
      ...{ ref: { timestamp: i, sequenceNumber: 0 }, error: clientError(code) },
    })
  const undecodable = [
    { undecodable: { count: 2, last: { timestamp: 2 }, problem: { code: 'NO_READING_KEY' } } },
    { undecodable: { count: 1, last: { timestamp: 1 }, problem: { code: 'INVALID_JSON_CONTENT' } } },
  ]
  expect(leftOut.fields()).toMatchObject(undecodable)
  const gapUpTo = (timestamp: number): MessageGap => ({
    ...{ streamPartId, publisherId, messageChainId: 'c' },
    ...{ after: { timestamp: 1, sequenceNumber: 0 }, upTo: { timestamp, sequenceNumber: 0 } },
  })
  leftOut.addGap(gapUpTo(2))
  leftOut.addGap(gapUpTo(3))
  expect(leftOut.fields()).toMatchObject([...undecodable, { gaps: { count: 2, last: gapUpTo(3) } }])
})
