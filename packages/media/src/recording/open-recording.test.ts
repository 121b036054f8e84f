import type { HistorySelection, Message, ResendOptions } from '@runnel/client'
import { describe, expect, it } from 'vitest'
import { mediaLimits } from '../limits.ts'
import { ada, memberOf } from './members.testkit.ts'
import { NoteTaker } from './note-taker.ts'
import { noteContent, parseNote } from './recording-note.ts'
import { openRecording, type OpenRecordingOptions } from './open-recording.ts'

const ben = memberOf('ben', [])
const { noteEveryMs, noteMembersEveryMs } = mediaLimits
type Note = Pick<Message, 'timestamp' | 'content'> & Partial<Pick<Message, 'messageChainId'>>

/** The notes of a recorder with one member, from a moment on. `isEnded`: it was stopped with the last one. */
function notesOf(member: typeof ada, beganAtMs: number, count: number, isEnded = true): Note[] {
  const moment = (ms: number) => ({ atMs: beganAtMs + ms, nowMs: ms })
  const taker = new NoteTaker(moment(0))
  return Array.from({ length: count }, (_, i) => {
    taker.control(member, { catalogue: member.catalogue }, moment(i * noteEveryMs))
    const key = { isKey: true, temporalLayer: 0, dependency: 0, data: new Uint8Array(1) }
    const object = { kind: 'video', track: 2, timestampUs: 1_000_000 * i, ...key } as const
    taker.object(member.id, object, moment(i * noteEveryMs))
    const note = { ...taker.take(moment(i * noteEveryMs)), isLast: isEnded && i === count - 1 }
    return { timestamp: beganAtMs + i * noteEveryMs, content: noteContent(note) }
  })
}

/** Opens a stream in which a storage node has these notes, and frames that a recorder stored at those times; `reads`: what was asked for. */
async function open(notes: readonly Note[], options: OpenRecordingOptions, frames: readonly Note[] = []) {
  const reads: HistorySelection[] = []
  const recording = await openRecording('0xa/recording', options, {
    client: {
      async *resend(
        _streamId: string,
        selection: HistorySelection,
        { partitions, messageChainId }: ResendOptions = {},
      ) {
        reads.push(selection)
        const { from = 0, to = Infinity } = selection as { from?: number; to?: number }
        const place = { publisherId: '0xa', messageChainId: 'a', urgent: undefined }
        const stored = (partitions === undefined ? [...notes, ...frames] : notes)
          .map((message) => ({ ...place, ...message }) as Message<never>)
          .filter((message) => messageChainId === undefined || message.messageChainId === messageChainId)
          .toSorted((a, b) => a.timestamp - b.timestamp)
        for (const message of stored) if (message.timestamp >= from && message.timestamp <= to) yield message
        await Promise.resolve()
      },
      getStream: () => Promise.resolve({ partitions: 5 }) as never,
    },
  })
  return { range: recording.range, timeLine: recording.timeLine, reads }
}

const framesAt = (...times: number[]): Note[] =>
  times.map((timestamp) => ({ timestamp, content: new Uint8Array(9) }))

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

it('a recording that ended in order is read once', async () => {
  const { range, reads } = await open(whole, {}, framesAt(beganAtMs + 29 * noteEveryMs + 100))
  expect(range.toMs).toBe(beganAtMs + 29 * noteEveryMs)
  expect(reads).toHaveLength(1)
})

describe('a recording whose recorder vanished', () => {
  const [noted, lastNoteMs] = [notesOf(ada, beganAtMs, 3, false), beganAtMs + 2 * noteEveryMs]
  const frames = framesAt(lastNoteMs - 50, lastNoteMs + 1_000, lastNoteMs + 3_900)

  it('reaches up to what it stored last, without a note of it', async () => {
    const { range } = await open(noted, {}, frames)
    expect(range).toEqual({ fromMs: beganAtMs, toMs: lastNoteMs + 3_900 })
    expect((await open(noted, {})).range.toMs).toBe(lastNoteMs)
  })

  it('reaches as far where another beside it vanished, too, whose last note is newer', async () => {
    const beside = notesOf(ben, lastNoteMs - 2_000, 2, false).map((note) => ({
      ...note,
      messageChainId: 'b',
    }))
    expect((await open([...noted, ...beside], {}, frames)).range.toMs).toBe(lastNoteMs + 3_900)
    const besideFrames = framesAt(lastNoteMs + 5_000).map((frame) => ({ ...frame, messageChainId: 'b' }))
    expect((await open([...noted, ...beside], {}, [...frames, ...besideFrames])).range.toMs).toBe(
      lastNoteMs + 5_000,
    )
  })

  it('ends there also for who opens it behind its last note', async () => {
    const fromMs = lastNoteMs + 500
    const { range, timeLine } = await open(noted, { fromMs }, frames)
    expect(range).toEqual({ fromMs, toMs: lastNoteMs + 3_900 })
    expect(timeLine.membersAt(fromMs)).toEqual([ada])
    await expect(open(noted, { fromMs: lastNoteMs + 4_000 }, frames)).rejects.toMatchObject({
      code: 'RECORDING_EMPTY',
    })
  })

  it('ends no later than it is wanted', async () => {
    expect((await open(noted, { toMs: lastNoteMs + 2_000 }, frames)).range.toMs).toBe(lastNoteMs + 1_000)
    expect((await open(noted, { toMs: lastNoteMs - 1 }, frames)).reads).toHaveLength(1)
  })

  it('has no frames of long after its last note, nor of other recorders', async () => {
    const strange = { ...framesAt(lastNoteMs + 3_950)[0], messageChainId: 'b' } as Note
    const later = framesAt(lastNoteMs + 2 * noteEveryMs + 1)
    expect((await open(noted, {}, [...frames, strange, ...later])).range.toMs).toBe(lastNoteMs + 3_900)
  })

  it('is found among others in its stream', async () => {
    const next = notesOf(ben, beganAtMs + 60_000, 3)
    const followed = await open([...noted, ...next], {}, frames)
    expect(followed.range.toMs).toBe(beganAtMs + 60_000 + 2 * noteEveryMs)
    expect(followed.reads).toHaveLength(1)
    // One beside it ends in order, between its last note and its end.
    const beside = notesOf(ben, lastNoteMs - 2_000, 2).map((note) => ({ ...note, messageChainId: 'b' }))
    expect((await open([...noted, ...beside], {}, frames)).range.toMs).toBe(lastNoteMs + 3_900)
  })
})

it('one that begins after what is wanted is left out', async () => {
  const [first, second] = [notesOf(ada, beganAtMs, 3), notesOf(ben, beganAtMs + 9_000, 3)]
  const { range, timeLine } = await open([...first, ...second], { toMs: beganAtMs + 9_000 })
  expect(range.toMs).toBe(beganAtMs + 8_000)
  expect(timeLine.members).toEqual([ada])
})

it.each([
  ['so many', mediaLimits.maxUnendedRecordings - 1, 2],
  ['no more', mediaLimits.maxUnendedRecordings, 1],
])('of recordings without an end %s are remembered while others go on', async (_, count, reads) => {
  const others = Array.from({ length: count }, (_, i) => notesOf(ben, beganAtMs + 1 + i, 2)).flat()
  const inOrder = others.toSorted((a, b) => a.timestamp - b.timestamp)
  const opened = await open([...notesOf(ada, beganAtMs, 1, false), ...inOrder], {})
  expect(opened.reads).toHaveLength(reads)
})
