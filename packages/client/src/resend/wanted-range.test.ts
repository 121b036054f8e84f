import type { ResendStart } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { at, chainOf } from './batches.testkit.ts'
import { firstPlace } from './selection.ts'
import { WantedRange } from './wanted-range.ts'

const last = { kind: 'last', count: 10 } as const
const extent = (from: number, count = 10, to = 100): ResendStart => {
  return { type: 'resendStart', requestId: 1, from: at(from), to: at(to), count }
}

/** A partition, and what a source says of it. */
type Said = readonly [partition: number, extent: ResendStart]

function said(...claims: readonly Said[]): WantedRange {
  const wanted = new WantedRange(last, true)
  claims.forEach(([partition, claim], source) => wanted.add(source, partition, claim, last))
  return wanted
}

const begin = (...claims: readonly Said[]) => said(...claims).agreedBegin

describe('WantedRange', () => {
  it('knows where the last begin when all say the same', () => {
    expect(begin([0, extent(91)])).toEqual(at(91))
    expect(begin([0, extent(91)], [0, extent(91)])).toEqual(at(91))
    expect(begin([0, extent(91)], [0, extent(92)])).toBeUndefined()
    expect(begin([0, extent(91)], [0, extent(91, 10, 101)])).toBeUndefined()
    expect(begin([0, extent(91, 5)], [0, extent(91, 6)])).toBeUndefined()
  })

  it('does not know it when one did not count, or several partitions have too many', () => {
    expect(begin([0, extent(91, 0)])).toBeUndefined()
    expect(begin([0, extent(91)], [1, extent(91)])).toBeUndefined()
    expect(begin([0, extent(91, 6)], [1, extent(50, 4)])).toEqual(firstPlace)
    expect(begin()).toBeUndefined()
  })

  it('does not know it when it was wrong before, or nothing but a range is asked for', () => {
    const [doubted, range] = [
      new WantedRange(last, false),
      { kind: 'range', from: at(5), to: at(9) } as const,
    ]
    doubted.add(0, 0, extent(91), last)
    expect(doubted.agreedBegin).toBeUndefined()
    expect(new WantedRange(range, true).agreedBegin).toBeUndefined()
  })

  it('leaves out what is before, as most of a partition say, and counts it', () => {
    const [batch] = chainOf([80, 90, 95, 99], { perBatch: 4 })
    if (batch === undefined) throw new Error('one batch')
    const wanted = said([0, extent(95)], [0, extent(90)], [0, extent(80)])
    expect(wanted.of(batch).map(({ timestamp }) => timestamp)).toEqual([90, 95, 99])
    expect(wanted.leftOut).toBe(1)
    wanted.remove(0)
    expect(wanted.of(batch)).toHaveLength(4)
  })
})
