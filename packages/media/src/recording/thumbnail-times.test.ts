import { describe, expect, it } from 'vitest'
import { memberOf, picture } from './members.testkit.ts'
import { thumbnailAt, thumbnailTimes } from './thumbnail-times.ts'
import { TimeLine } from './time-line.ts'

const large = { ...picture, id: 3, codedWidth: 640, codedHeight: 360 }
const screen = { ...picture, id: 4, source: 'screen' as const, altGroup: 1 }
const key = (memberId: string, track: number, atMs: number) => ({ memberId, track, atMs, timestampUs: 0 })

describe('thumbnails', () => {
  it('stand for the middle of each part', () => {
    expect(thumbnailTimes({ fromMs: 1_000, toMs: 2_000 }, 4)).toEqual([1_125, 1_375, 1_625, 1_875])
  })

  it('are key frames of the smallest rendition, of a screen before all', () => {
    const line = new TimeLine()
    const both = memberOf('ada', [large, picture])
    const muted = memberOf('ben', [{ ...picture, state: 'muted' as const }])
    line.add({ change: { atMs: 0, members: [muted, both] }, clocks: [], keys: [] }, 0)
    line.add({ clocks: [], keys: [key('ada', 2, 100), key('ada', 3, 200), key('carla', 4, 5_000)] }, 5_500)
    line.add(
      { change: { atMs: 4_000, members: [both, memberOf('carla', [screen])] }, clocks: [], keys: [] },
      6_000,
    )
    expect(thumbnailAt(line, 300)).toEqual({ key: key('ada', 2, 100), track: picture })
    expect(thumbnailAt(line, 50)).toBeUndefined()
    // Its first key frame has not come.
    expect(thumbnailAt(line, 4_500)?.key).toEqual(key('ada', 2, 100))
    expect(thumbnailAt(line, 5_000)).toEqual({ key: key('carla', 4, 5_000), track: screen })
  })
})
