import { limits } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { controlContent, parseControl, type VideoTrack } from '../catalogue/catalogue.ts'
import { mediaLimits } from '../limits.ts'
import { ada, picture } from './members.testkit.ts'
import { noteContent, parseNote, type RecordingNote } from './recording-note.ts'

const note: RecordingNote = {
  beganAtMs: 900,
  change: { atMs: 1_000, members: [ada] },
  clocks: [{ memberId: ada.id, atMs: 1_500, timestampUs: 40_000 }],
  keys: [{ memberId: ada.id, track: picture.id, atMs: 1_600, timestampUs: 90_000 }],
}
const wire = (changes: object): unknown => {
  const { recording } = noteContent(note) as { recording: object }
  return { recording: { ...recording, ...changes } }
}

describe('a note of a recorder', () => {
  it('is read as it was written', () => {
    expect(parseNote(JSON.parse(JSON.stringify(noteContent(note))))).toEqual(note)
    const empty = { beganAtMs: undefined, change: undefined, clocks: [], keys: [] }
    expect(parseNote(JSON.parse(JSON.stringify(noteContent(empty))))).toEqual(empty)
    const last = { ...note, isLast: true }
    expect(parseNote(JSON.parse(JSON.stringify(noteContent(last))))).toEqual(last)
  })

  it('may say what a reader does not know yet', () => {
    expect(parseNote(wire({ further: true }))).toEqual(note)
  })

  it.each([
    ['another version', wire({ version: 2 })],
    ['a time that is none', wire({ clocks: [[0, -1, 0]] })],
    ['a track that objects cannot have', wire({ keys: [[0, 256, 1, 1]] })],
    [
      'too many key frames',
      wire({ keys: Array.from({ length: mediaLimits.maxNoteKeys + 1 }, () => [0, 1, 1, 1]) }),
    ],
    ['a name that is too long', wire({ who: ['a'.repeat(201)] })],
    ['what an application says', { chat: { text: 'hello' } }],
    ['nothing', undefined],
  ])('is nothing with %s', (_, content) => {
    expect(parseNote(content)).toBeUndefined()
  })

  it('is a message even with all that members can say of themselves', () => {
    const codec = '\\'.repeat(mediaLimits.maxTextLength)
    const tracks = Array.from({ length: mediaLimits.maxTracks }, (_, i): VideoTrack => ({
      ...{ ...picture, id: 255 - i, partition: 99, state: 'paused', codec, bitrate: 1_000_000_000 },
      ...{ codedWidth: 16_384, codedHeight: 16_384, framerate: 239.99999999999997, altGroup: 255 },
    }))
    const catalogue = {
      ...{ ...ada.catalogue, tracks, name: '\u0001'.repeat(mediaLimits.maxNameLength) },
      decodes: Array<string>(mediaLimits.maxCodecs).fill(codec),
    } as const
    expect(parseControl(controlContent({ catalogue }))).toBeDefined()
    const ids = Array.from({ length: mediaLimits.maxMembers }, (_, i) => `${'i'.repeat(195)}${i}`)
    const members = ids.map((id) => ({ id, userId: id, catalogue }))
    const time = (i: number) => ({ memberId: ids[i % ids.length] ?? '', atMs: 2 ** 48, timestampUs: 2 ** 48 })
    const whole: RecordingNote = {
      beganAtMs: 2 ** 48,
      change: { atMs: 2 ** 48, members },
      clocks: ids.map((_, i) => time(i)),
      keys: Array.from({ length: mediaLimits.maxNoteKeys }, (_, i) => ({ ...time(i), track: 255 })),
    }
    expect(Buffer.byteLength(JSON.stringify(noteContent(whole)))).toBeLessThan(limits.maxContentBytes)
  })

  it('leaves out members whose catalogue is not as it must be', () => {
    const members = [ada, { ...ada, id: 'other', catalogue: { version: 7 } }]
    expect(parseNote(wire({ change: { atMs: 1, members } }))?.change?.members).toEqual([ada])
  })
})
