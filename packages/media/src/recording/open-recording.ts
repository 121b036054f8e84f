import type { Message, ResendOptions } from '@runnel/client'
import { mediaError } from '../errors.ts'
import { mediaLimits } from '../limits.ts'
import { checkOptions, type OptionNames } from '../options.ts'
import { memberIdOf } from '../session/member.ts'
import { EarlierNotes, type DatedNote } from './earlier-notes.ts'
import { notePartition } from './partitions.ts'
import { parseNote, type RecordingNote } from './recording-note.ts'
import { MediaRecording, type RecordingModules } from './recording.ts'
import { TimeLine } from './time-line.ts'
import { UnendedRecordings, type NewestNote } from './unended-recordings.ts'

export interface OpenRecordingOptions {
  /** Opens only what was recorded in this time, in Unix milliseconds of the recorder's clock: a stream can hold several recordings. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

const names: OptionNames<OpenRecordingOptions> = { fromMs: true, toMs: true, signal: true }

/**
 * Opens what `recordSession` recorded, as far as it is stored: reads its notes, also those shortly before `fromMs`, which say who was there at that
 * moment, and looks for what was stored behind them unless the last one says that it is the last. Throws OPTIONS_INVALID, RECORDING_EMPTY,
 * and what `resend` throws.
 */
export async function openRecording(
  streamId: string,
  options: OpenRecordingOptions,
  { client }: RecordingModules,
): Promise<MediaRecording> {
  checkOptions('openRecording', options, names)
  const { fromMs = 0, toMs, signal } = options
  const { partitions } = await client.getStream(streamId)
  const timeLine = new TimeLine()
  const [earlier, unended] = [new EarlierNotes(), new UnendedRecordings()]
  const add = (recording: string | undefined, dated: DatedNote): void => {
    if (dated.atMs < fromMs) earlier.keep(recording, dated)
    else for (const one of [...earlier.take(recording), dated]) timeLine.add(one.note, one.atMs)
  }
  const ofNotes: ResendOptions = { partitions: [notePartition], signal }
  // Two clocks, and what comes after the last frame.
  const to = toMs === undefined ? undefined : toMs + mediaLimits.noteEveryMs
  const from = Math.max(0, Math.floor(fromMs - mediaLimits.earlierNotesMs))
  for await (const message of client.resend(streamId, { from, to }, ofNotes)) {
    const note = parseNote(message.content)
    // What begins later is another recording.
    if (note === undefined || (toMs !== undefined && (note.beganAtMs ?? 0) >= toMs)) continue
    const recording = recordingOf(message, note)
    add(recording, { note, atMs: message.timestamp })
    unended.noted({ ...message, recording }, note.isLast === true)
  }
  for (const last of unended.notes) {
    const sinceMs = Math.max(last.timestamp, timeLine.range?.toMs ?? 0)
    const atMs = await storedAfterMs(streamId, last, { sinceMs, toMs, signal }, { client })
    if (atMs !== undefined) add(last.recording, { note: { clocks: [], keys: [] }, atMs })
  }
  const { range } = timeLine
  if (range === undefined) throw mediaError('RECORDING_EMPTY', streamId)
  const wanted = { ...range, fromMs: Math.max(range.fromMs, fromMs) }
  return new MediaRecording(streamId, { timeLine, range: wanted, partitions }, { client })
}

/** When a recorder stored something last after its newest note: it vanished before its next one, or that is still to come. Undefined if it did not. */
async function storedAfterMs(
  streamId: string,
  { publisherId, messageChainId, timestamp }: NewestNote,
  wanted: { readonly sinceMs: number } & Pick<OpenRecordingOptions, 'toMs' | 'signal'>,
  { client }: RecordingModules,
): Promise<number | undefined> {
  const { sinceMs: from, toMs = Infinity, signal } = wanted
  const to = Math.min(timestamp + 2 * mediaLimits.noteEveryMs, toMs)
  if (to <= from) return undefined
  let atMs: number | undefined
  const options: ResendOptions = { publisherId, messageChainId, raw: true, signal }
  for await (const stored of client.resend(streamId, { from, to }, options)) atMs = stored.timestamp
  return atMs
}

/** Tells recordings apart that follow each other in one stream. Undefined for notes of earlier versions, which do not say when theirs began. */
function recordingOf(message: Message, { beganAtMs }: RecordingNote): string | undefined {
  return beganAtMs === undefined ? undefined : `${memberIdOf(message)} ${beganAtMs}`
}
