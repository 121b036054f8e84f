import { describe, expect, it } from 'vitest'
import type { Control } from '../catalogue/catalogue.ts'
import type { MediaObject } from '../core/media-object.ts'
import { mediaLimits } from '../limits.ts'
import type { Member } from '../session/member.ts'
import { ada, picture as pictureTrack } from './members.testkit.ts'
import { NoteTaker } from './note-taker.ts'
import { TimeLine } from './time-line.ts'

const { catalogue } = ada
const at = (ms: number) => ({ atMs: 1_000_000 + ms, nowMs: ms })
const picture = (timestampUs: number, isKey: boolean): MediaObject => ({
  ...{ kind: 'video', track: 2, timestampUs, isKey, temporalLayer: 0, dependency: isKey ? 0 : 1 },
  data: new Uint8Array(1),
})

function joined(): NoteTaker {
  const notes = new NoteTaker(at(-10_000))
  notes.control(ada, { catalogue }, at(0))
  return notes
}

describe('notes of what a recorder sees', () => {
  it('say who is there since when, again where that changes, and from time to time', () => {
    const notes = joined()
    expect(notes.take(at(10)).change).toEqual({ atMs: 1_000_000, members: [ada] })
    notes.control(ada, { catalogue }, at(20))
    expect(notes.take(at(30)).change).toBeUndefined()
    const muted = { ...catalogue, tracks: [] }
    notes.control(ada, { catalogue: muted }, at(40))
    expect(notes.take(at(50)).change).toEqual({ atMs: 1_000_040, members: [{ ...ada, catalogue: muted }] })
    notes.control(ada, { catalogue: muted }, at(mediaLimits.noteMembersEveryMs))
    const later = at(50 + mediaLimits.noteMembersEveryMs)
    expect(notes.take(later).change?.members).toHaveLength(1)
  })

  it.each<[string, Pick<Member, 'id' | 'userId'>, Control]>([
    ['it ends it', ada, { catalogue: { ...catalogue, tracks: [] } }],
    ['it leaves', ada, { leave: true, session: catalogue.session }],
    ['it begins anew', ada, { catalogue: { ...catalogue, tracks: [], session: '0'.repeat(16) } }],
    [
      'another session takes its place',
      { ...ada, id: 'ada again' },
      { catalogue: { ...catalogue, tracks: [], session: '0'.repeat(16), replaces: catalogue.session } },
    ],
  ])('show a track that is over before the next regular one, as %s', (_, member, control) => {
    const [line, notes] = [new TimeLine(), new NoteTaker(at(0))]
    line.add(notes.take(at(0)), at(0).atMs)
    const say = (who: Pick<Member, 'id' | 'userId'>, what: Control, ms: number): boolean => {
      const before = notes.takeBefore(who, what, at(ms))
      if (before !== undefined) line.add(before, at(ms).atMs)
      notes.control(who, what, at(ms))
      return before !== undefined
    }
    const shown = (ms: number) => line.membersAt(at(ms).atMs).flatMap((one) => one.catalogue.tracks)
    expect(say(ada, { catalogue: { ...catalogue, tracks: [] } }, 500)).toBe(false)
    expect(say(ada, { catalogue }, 1_000)).toBe(false)
    expect(say(member, control, 2_000)).toBe(true)
    // Nobody can have a note written for each of its messages.
    say(
      ada,
      { catalogue: { ...catalogue, tracks: [...catalogue.tracks, { ...pictureTrack, id: 9 }] } },
      2_500,
    )
    expect(say(ada, { leave: true }, 3_000)).toBe(false)
    line.add(notes.take(at(4_000)), at(4_000).atMs)
    expect(shown(1_500)).toEqual(catalogue.tracks)
    expect(shown(2_200)).toEqual([])
    // What a note says already is in it.
    say(ada, { catalogue: { ...catalogue, session: '1'.repeat(16) } }, 5_000)
    line.add(notes.take(at(8_000)), at(8_000).atMs)
    expect(say(ada, { leave: true }, 9_000)).toBe(false)
  })

  it('tell who went, or was not heard of', () => {
    const notes = joined()
    notes.take(at(10))
    notes.control(ada, { leave: true }, at(20))
    expect(notes.take(at(30)).change).toEqual({ atMs: 1_000_020, members: [] })
    // What it said before may come later.
    notes.control(ada, { catalogue }, at(35))
    expect(notes.take(at(36)).change).toBeUndefined()
    notes.control(ada, { catalogue: { ...catalogue, session: 'fedcba9876543210' } }, at(40))
    expect(notes.take(at(50)).change?.members).toHaveLength(1)
    expect(notes.take(at(40 + mediaLimits.memberTtlMs)).change?.members).toEqual([])
  })

  it('have no session that another one of its user replaces', () => {
    const notes = joined()
    const replaces = catalogue.session
    const next = { ...catalogue, session: 'fedcba9876543210', replaces }
    const stranger = { id: 'eve', userId: '0xe' }
    notes.control(stranger, { catalogue: { ...next, session: '0'.repeat(16) } }, at(10))
    expect(notes.take(at(20)).change?.members).toHaveLength(2)
    notes.control({ ...ada, id: 'ada again' }, { catalogue: next }, at(30))
    expect(notes.take(at(40)).change?.members.map(({ id }) => id)).toEqual(['eve', 'ada again'])
  })

  it('name key frames, and of each member the object that came the quickest', () => {
    const notes = joined()
    notes.object('ada', picture(0, true), at(100))
    notes.object('ada', picture(66_000, false), at(120))
    notes.object('ada', picture(132_000, false), at(300))
    const { keys, clocks } = notes.take(at(400))
    expect(keys).toEqual([{ memberId: 'ada', track: 2, atMs: 1_000_100, timestampUs: 0 }])
    expect(clocks).toEqual([{ memberId: 'ada', atMs: 1_000_120, timestampUs: 66_000 }])
    expect(notes.take(at(500))).toMatchObject({ keys: [], clocks: [] })
  })

  it('take those for there from the beginning that are heard of in its first seconds, and ask for their key frames', () => {
    const notes = new NoteTaker(at(0))
    // Nobody was heard of: not that nobody is there.
    expect(notes.take(at(10)).change).toBeUndefined()
    notes.object('ada', picture(0, true), at(100))
    expect(notes.control(ada, { catalogue }, at(2_500))).toEqual([2])
    expect(notes.control(ada, { catalogue: { ...catalogue, name: 'A.' } }, at(2_600))).toEqual([])
    expect(notes.control(ada, { catalogue: { ...catalogue, session: '0'.repeat(16) } }, at(2_700))).toEqual([
      2,
    ])
    expect(notes.take(at(4_000))).toMatchObject({ change: { atMs: 1_000_000 }, keys: [{ atMs: 1_000_100 }] })
  })

  it('hold times of so many members', () => {
    const notes = joined()
    for (let i = 0; i <= mediaLimits.maxMembers; i++) notes.object(`${i}`, picture(0, true), at(i))
    const { clocks, keys } = notes.take(at(400))
    expect([clocks.length, keys.length]).toEqual([mediaLimits.maxMembers, mediaLimits.maxMembers])
  })

  it('have room for so many key frames', () => {
    const notes = joined()
    for (let i = 0; i <= mediaLimits.maxNoteKeys; i++) notes.object('ada', picture(i, true), at(i))
    expect(notes.keysLeftOut).toBe(1)
    expect(notes.take(at(9_000)).keys).toHaveLength(mediaLimits.maxNoteKeys)
  })
})
