import { z } from 'zod'
import { controlContent, parseControl } from '../catalogue/catalogue.ts'
import { mediaLimits } from '../limits.ts'
import type { Member } from '../session/member.ts'

/** The arrival of something from a member, by the recorder's clock and by the member's. */
export interface MemberTime {
  readonly memberId: string
  /** When the recorder had it, in Unix milliseconds. */
  readonly atMs: number
  /** As in `AudioObject`. */
  readonly timestampUs: number
}

/** A key frame in a recording. */
export interface KeyFrame extends MemberTime {
  readonly track: number
}

/** Who was there from a moment on, until the next one. */
export interface MembersChange {
  readonly atMs: number
  readonly members: readonly Member[]
}

/** What a recorder writes beside what it records, so that a reader finds its way without reading it all. */
export interface RecordingNote {
  /** When its recording began, in Unix milliseconds of the recorder's clock: tells recordings in one stream apart. */
  readonly beganAtMs?: number | undefined
  readonly change?: MembersChange | undefined
  /** Of each member that sent something, the object that came the quickest. */
  readonly clocks: readonly MemberTime[]
  readonly keys: readonly KeyFrame[]
  /** Whether its recorder was stopped and writes no more of this recording. */
  readonly isLast?: boolean | undefined
}

/** Of the recorder's clock, in Unix milliseconds. */
const recorderTime = z
  .number()
  .int()
  .min(0)
  .max(2 ** 48)
/** Of a member's own, in microseconds. */
const memberTime = z
  .number()
  .int()
  .min(0)
  .max(2 ** 48)
const id = z.string().max(200)
const index = z.number().int().min(0)
const noteSchema = z.object({
  recording: z.object({
    version: z.literal(1),
    beganAtMs: recorderTime.optional(),
    who: z.array(id).max(mediaLimits.maxMembers),
    change: z
      .object({
        atMs: recorderTime,
        members: z.array(z.object({ id, userId: id, catalogue: z.unknown() })).max(mediaLimits.maxMembers),
      })
      .optional(),
    clocks: z.array(z.tuple([index, recorderTime, memberTime])).max(mediaLimits.maxMembers),
    keys: z
      .array(z.tuple([index, z.number().int().min(0).max(255), recorderTime, memberTime]))
      .max(mediaLimits.maxNoteKeys),
    isLast: z.boolean().optional(),
  }),
})

/** The content of a message: members are named once. */
export function noteContent({ beganAtMs, change, clocks, keys, isLast }: RecordingNote): unknown {
  const who = [...new Set([...clocks, ...keys].map(({ memberId }) => memberId))]
  return {
    recording: {
      ...{ version: 1, beganAtMs, who, change, isLast },
      clocks: clocks.map(({ memberId, atMs, timestampUs }) => [who.indexOf(memberId), atMs, timestampUs]),
      keys: keys.map(({ memberId, track, atMs, timestampUs }) => [
        who.indexOf(memberId),
        track,
        atMs,
        timestampUs,
      ]),
    },
  }
}

/** Undefined for any other content. Members whose catalogue is not as it must be are left out. */
export function parseNote(content: unknown): RecordingNote | undefined {
  const parsed = noteSchema.safeParse(content)
  if (!parsed.success) return undefined
  const { beganAtMs, who, change, clocks, keys, isLast } = parsed.data.recording
  const named = (i: number): string => who[i] ?? ''
  return {
    beganAtMs,
    change: change && {
      atMs: change.atMs,
      members: change.members.flatMap((member) => memberOf(member) ?? []),
    },
    clocks: clocks.map(([i, atMs, timestampUs]) => ({ memberId: named(i), atMs, timestampUs })),
    keys: keys.map(([i, track, atMs, timestampUs]) => ({ memberId: named(i), track, atMs, timestampUs })),
    isLast,
  }
}

function memberOf({
  id,
  userId,
  catalogue,
}: {
  id: string
  userId: string
  catalogue?: unknown
}): Member | undefined {
  const control = parseControl(controlContent({ catalogue } as never))
  return control !== undefined && 'catalogue' in control
    ? { id, userId, catalogue: control.catalogue }
    : undefined
}
