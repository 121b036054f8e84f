import { placeBefore } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { at, identityOf, streamId } from './batches.testkit.ts'
import { firstPlace, historyOf, lastPlace, toSelection, type HistorySelection } from './selection.ts'

const stream = { id: streamId, partitions: 3, metadata: '', trackers: [], createdMs: 0 }

describe('a selection', () => {
  it('is the last so many, or everything between two places', () => {
    expect(toSelection({ last: 10 })).toEqual({ kind: 'last', count: 10 })
    expect(toSelection({ from: 1000 })).toEqual({ kind: 'range', from: at(1000), to: lastPlace })
    expect(toSelection({ from: new Date(1000), to: 2000 })).toEqual({
      kind: 'range',
      from: at(1000),
      to: at(2000, lastPlace.sequenceNumber),
    })
    expect(toSelection({ from: at(1000, 5), to: at(1000, 7) })).toEqual({
      kind: 'range',
      from: at(1000, 5),
      to: at(1000, 7),
    })
  })

  it.each([
    ['nothing', undefined],
    ['a number', 5],
    ['no messages', { last: 0 }],
    ['part of a message', { last: 1.5 }],
    ['more than there can be', { last: 10_000_001 }],
    ['both kinds', { last: 1, from: 2 }],
    ['an end without a beginning', { to: 1 }],
    ['a text', { from: 'yesterday' }],
    ['no date', { from: new Date('nonsense') }],
    ['a time before time', { from: -1 }],
    ['a time beyond time', { from: 2 ** 48 }],
    ['infinity', { from: 0, to: Infinity }],
    ['a place without a sequence number', { from: { timestamp: 1 } }],
    ['an end before its beginning', { from: 2, to: 1 }],
    ['one in the same millisecond', { from: at(1, 2), to: at(1, 1) }],
  ])('cannot be %s', (_, selection) => {
    expect(() => toSelection(selection as HistorySelection)).toThrow(
      expect.objectContaining({ code: 'INVALID_RESEND' }),
    )
  })

  it('is narrowed down to partitions and a publisher that there are', () => {
    const { nodeId } = identityOf('alice')
    expect(historyOf({ last: 1 }, {}, stream).partitions).toEqual([0, 1, 2])
    expect(
      historyOf(
        { last: 1 },
        { partitions: [2, 2], publisherId: nodeId.toUpperCase().replace('X', 'x') },
        stream,
      ),
    ).toMatchObject({
      partitions: [2],
      publisherId: nodeId,
    })
    const codeOf = (filter: Parameters<typeof historyOf>[1]) => {
      try {
        historyOf({ last: 1 }, filter, stream)
        return 'fine'
      } catch (error) {
        return (error as { code: string }).code
      }
    }
    expect(codeOf({ partitions: [3] })).toBe('PARTITION_OUT_OF_RANGE')
    expect(codeOf({ publisherId: 'bob' })).toBe('INVALID_NODE_ID')
    expect(codeOf({ messageChainId: 'a' })).toBe('INVALID_RESEND')
  })
})

it('knows the place before another', () => {
  expect(placeBefore(at(5, 3))).toEqual(at(5, 2))
  expect(placeBefore(at(5))).toEqual(at(4, lastPlace.sequenceNumber))
  expect(placeBefore(firstPlace)).toEqual(firstPlace)
})
