import { describe, expect, it } from 'vitest'
import { mediaLimits } from '../limits.ts'
import { ada, picture } from './members.testkit.ts'
import { noteContent, parseNote, type RecordingNote } from './recording-note.ts'

const note: RecordingNote = {
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
    const empty = { change: undefined, clocks: [], keys: [] }
    expect(parseNote(JSON.parse(JSON.stringify(noteContent(empty))))).toEqual(empty)
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

  it('leaves out members whose catalogue is not as it must be', () => {
    const members = [ada, { ...ada, id: 'other', catalogue: { version: 7 } }]
    expect(parseNote(wire({ change: { atMs: 1, members } }))?.change?.members).toEqual([ada])
  })
})
