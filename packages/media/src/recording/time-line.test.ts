import { describe, expect, it } from 'vitest'
import { mediaLimits } from '../limits.ts'
import { ada, memberOf } from './members.testkit.ts'
import { TimeLine } from './time-line.ts'

const ben = memberOf('ben', [])
const key = (atMs: number) => ({ memberId: 'ada', track: 2, atMs, timestampUs: 1_000 * (atMs - 700) })
const nothing = { clocks: [], keys: [] }

describe('the time line of a recording', () => {
  it('reaches from its first note to its last', () => {
    const line = new TimeLine()
    expect(line.range).toBeUndefined()
    line.add(nothing, 1_000)
    line.add(nothing, 9_000)
    line.add(nothing, 5_000)
    expect(line.range).toEqual({ fromMs: 1_000, toMs: 9_000 })
  })

  it('tells who was there, as the same object for as long as nothing changed', () => {
    const line = new TimeLine()
    line.add({ ...nothing, change: { atMs: 1_000, members: [ada] } }, 1_500)
    line.add({ ...nothing, change: { atMs: 3_000, members: [{ ...ada }] } }, 3_000)
    line.add({ ...nothing, change: { atMs: 5_000, members: [ada, ben] } }, 5_500)
    expect(line.membersAt(999)).toEqual([])
    expect(line.membersAt(4_999)).toBe(line.membersAt(1_000))
    expect(line.membersAt(5_000)).toEqual([ada, ben])
  })

  it('finds the newest key frame of a track up to a moment, in whatever order notes came', () => {
    const line = new TimeLine()
    line.add({ ...nothing, keys: [key(5_000), key(9_000)] }, 9_500)
    line.add({ ...nothing, keys: [key(1_000)] }, 4_000)
    const found = (atMs: number) => line.keyBefore('ada', 2, atMs)?.atMs
    expect([999, 1_000, 4_999, 5_000, 8_999, 20_000].map(found)).toEqual([
      undefined,
      1_000,
      1_000,
      5_000,
      5_000,
      9_000,
    ])
    expect(line.keyBefore('ada', 3, 9_000)).toBeUndefined()
    expect(line.keyBefore('ben', 2, 9_000)).toBeUndefined()
  })

  it('knows how the clock of a member stood to the recorder’s at that time', () => {
    const line = new TimeLine()
    const clock = (atMs: number, offsetMs: number) => ({
      memberId: 'ada',
      atMs,
      timestampUs: 1_000 * (atMs - offsetMs),
    })
    for (const [atMs, offsetMs] of [
      [10_000, 900],
      [14_000, 700],
      [18_000, 4_000],
      [400_000, 720],
      // It began anew.
      [404_000, 403_900],
      [408_000, 403_950],
    ] as const)
      line.add({ ...nothing, clocks: [clock(atMs, offsetMs)] }, atMs)
    const found = [0, 18_000, 390_000, 399_000, 404_000, 500_000].map((atMs) => line.offsetMs('ada', atMs))
    expect(found).toEqual([700, 700, 700, 720, 403_900, 403_900])
    expect(line.offsetMs('ben', 0)).toBeUndefined()
  })

  it('holds so much and no more', () => {
    const line = new TimeLine()
    const keys = Array.from({ length: mediaLimits.maxNoteKeys }, (_, i) => key(1_000_000 - i))
    for (let i = 0; i <= mediaLimits.maxTimeLineEntries / keys.length; i++) line.add({ ...nothing, keys }, i)
    expect(line.entriesLeftOut).toBe(keys.length)
    for (let i = 0; i <= mediaLimits.maxTimeLineChanges; i++)
      line.add({ ...nothing, change: { atMs: i, members: [memberOf(`${i}`, [])] } }, i)
    expect(line.entriesLeftOut).toBe(keys.length + 1)
  })
})
