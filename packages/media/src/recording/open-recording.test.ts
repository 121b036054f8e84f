import type { HistorySelection, Message } from '@runnel/client'
import { expect, it } from 'vitest'
import { mediaLimits } from '../limits.ts'
import { ada, memberOf } from './members.testkit.ts'
import { NoteTaker } from './note-taker.ts'
import { noteContent, parseNote } from './recording-note.ts'
import { openRecording, type OpenRecordingOptions } from './recording.ts'

const ben = memberOf('ben', [])
const { noteEveryMs, noteMembersEveryMs } = mediaLimits
type Note = Pick<Message, 'timestamp' | 'content'>

/** The notes of a recorder with one member, from a moment on. */
function notesOf(member: typeof ada, beganAtMs: number, count: number): Note[] {
  const moment = (ms: number) => ({ atMs: beganAtMs + ms, nowMs: ms })
  const taker = new NoteTaker(moment(0))
  return Array.from({ length: count }, (_, i) => {
    taker.control(member, { catalogue: member.catalogue }, moment(i * noteEveryMs))
    const key = { isKey: true, temporalLayer: 0, dependency: 0, data: new Uint8Array(1) }
    const object = { kind: 'video', track: 2, timestampUs: 1_000_000 * i, ...key } as const
    taker.object(member.id, object, moment(i * noteEveryMs))
    const note = taker.take(moment(i * noteEveryMs))
    return { timestamp: beganAtMs + i * noteEveryMs, content: noteContent(note) }
  })
}

/** Opens a stream in which a storage node has these. */
function open(notes: readonly Note[], options: OpenRecordingOptions) {
  return openRecording('0xa/recording', options, {
    client: {
      async *resend(_streamId: string, selection: HistorySelection) {
        const { from = 0, to = Infinity } = selection as { from?: number; to?: number }
        const place = { publisherId: '0xa', messageChainId: 'a', urgent: undefined }
        for (const note of notes)
          if (note.timestamp >= from && note.timestamp <= to) yield { ...place, ...note } as Message<never>
        await Promise.resolve()
      },
      getStream: () => Promise.resolve({ partitions: 5 }) as never,
    },
  })
}

const beganAtMs = 1_000_000
const whole = notesOf(ada, beganAtMs, 30)

it.each([
  ['just after it began', 5],
  ['between two notes', noteEveryMs + 1_000],
  ['long after the members were named', noteMembersEveryMs - 1_000],
  ['when they are about to be named again', noteMembersEveryMs + 2 * noteEveryMs - 1],
])('a recording that is opened %s begins there, with who was there', async (_, afterMs) => {
  const fromMs = beganAtMs + afterMs
  const { range, timeLine } = await open(whole, { fromMs })
  expect(range).toEqual({ fromMs, toMs: beganAtMs + 29 * noteEveryMs })
  expect(timeLine.membersAt(fromMs)).toEqual([ada])
  expect(timeLine.keyBefore(ada.id, 2, fromMs)?.atMs).toBe(fromMs - (afterMs % noteEveryMs))
})

it('a recording says who was there though the note that named them last is missing', async () => {
  const fromMs = beganAtMs + 2 * noteMembersEveryMs
  const named = whole.filter(({ content }) => parseNote(content)?.change !== undefined)
  const [first, last] = named.filter(({ timestamp }) => timestamp < fromMs)
  expect(first?.timestamp).toBe(beganAtMs)
  const { timeLine } = await open(
    whole.filter((note) => note !== last),
    { fromMs },
  )
  expect(timeLine.membersAt(fromMs)).toEqual([ada])
})

it('a recording does not begin before its first note', async () => {
  const { range } = await open(whole, { fromMs: beganAtMs - 5_000 })
  expect(range.fromMs).toBe(beganAtMs)
})

it('one that follows another in the same stream is opened without that one', async () => {
  const [first, second] = [notesOf(ada, beganAtMs, 3), notesOf(ben, beganAtMs + 9_000, 3)]
  const { range, timeLine } = await open([...first, ...second], { fromMs: beganAtMs + 8_500 })
  expect(range).toEqual({ fromMs: beganAtMs + 9_000, toMs: beganAtMs + 17_000 })
  expect(timeLine.members).toEqual([ben])
  await expect(open(first, { fromMs: beganAtMs + 8_500 })).rejects.toMatchObject({ code: 'RECORDING_EMPTY' })
})

it('notes that do not say when their recording began count from the moment that is opened', async () => {
  const old = whole.map(({ timestamp, content }) => {
    const { recording } = content as { recording: object }
    return { timestamp, content: { recording: { ...recording, beganAtMs: undefined } } }
  })
  const { range } = await open(old, { fromMs: beganAtMs + 5 })
  expect(range.fromMs).toBe(beganAtMs + noteEveryMs)
})
