import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PlaceRanges } from './place-ranges.ts'

const at = (timestamp: number) => ({ timestamp, sequenceNumber: 0 })
const pairs = fc.array(
  fc.tuple(fc.nat(30), fc.nat(30)).map(([a, b]) => ({ after: Math.min(a, b), upTo: Math.max(a, b) })),
  { maxLength: 12 },
)
const rangesOf = (all: readonly { after: number; upTo: number }[]) => {
  const ranges = new PlaceRanges()
  for (const { after, upTo } of all) ranges.add({ after: at(after), upTo: at(upTo) })
  return ranges
}
/** Every place that is in some of them. */
const placesOf = (all: readonly { after: number; upTo: number }[]) =>
  new Set(all.flatMap(({ after, upTo }) => Array.from({ length: upTo - after }, (_, i) => after + 1 + i)))

describe('ranges of places', () => {
  it('have what was added, whatever the order, and are apart', () => {
    fc.assert(
      fc.property(pairs, (all) => {
        const [ranges, places] = [rangesOf(all), placesOf(all)]
        for (let i = 0; i <= 31; i++) expect(ranges.has(at(i))).toBe(places.has(i))
        const ends = ranges.list.flatMap(({ after, upTo }) => [after.timestamp, upTo.timestamp])
        expect(ends).toEqual([...new Set(ends)].sort((a, b) => a - b))
        expect(rangesOf(all.toReversed()).list).toEqual(ranges.list)
      }),
    )
  })

  it('tell where something begins that others lack', () => {
    fc.assert(
      fc.property(pairs, pairs, (all, less) => {
        const lacking = placesOf(less)
        const [first] = [...placesOf(all)].filter((one) => !lacking.has(one)).sort((a, b) => a - b)
        const place = rangesOf(all).firstBeyond(rangesOf(less))
        expect(place?.timestamp).toBe(first === undefined ? undefined : first - 1)
      }),
    )
  })

  it('forget what is before a time, and tell what is before a place', () => {
    fc.assert(
      fc.property(pairs, fc.nat(30), (all, floor) => {
        const [ranges, places] = [rangesOf(all), placesOf(all)]
        const ends = ranges.list.map(({ upTo }) => upTo.timestamp).filter((end) => end < floor)
        expect(ranges.lastBefore(at(floor), at(0)).timestamp).toBe(Math.max(0, ...ends))
        ranges.cutBefore(floor)
        for (let i = floor; i <= 31; i++) expect(ranges.has(at(i))).toBe(places.has(i))
        for (const { upTo } of ranges.list) expect(upTo.timestamp).toBeGreaterThanOrEqual(floor)
      }),
    )
  })
})
