import type { RunnelClient, StreamInfo } from '@runnel/client'
import { isRunnelError, type StreamId } from '@runnel/protocol'
import { matches, type StreamPattern } from './stream-pattern.ts'
import type { FollowedStream } from './streams-status.ts'

/** What the registry says of a stream that is to be followed. */
export interface Look {
  readonly state: FollowedStream['state']
  /** To join. */
  readonly partitions: number
  /** Until when it may be read, in Unix milliseconds. */
  readonly untilMs: number
}

export interface Survey {
  readonly looks: ReadonlyMap<StreamId, Look>
  /** Stream parts, and streams not looked at, that are too many. */
  readonly ignored: number
  /** What could not be read. */
  readonly failures: readonly unknown[]
}

export interface SurveyOptions {
  readonly patterns: readonly StreamPattern[]
  /** The joined partitions of streams: newer streams take nothing from them, and what cannot be read stays as it is. */
  readonly joined: ReadonlyMap<StreamId, readonly unknown[]>
  readonly maxStreams: number
  readonly maxParts: number
  /** Unix milliseconds. */
  readonly nowMs: number
}

/** What a survey asks. */
export type SurveyedClient = Pick<RunnelClient, 'userId' | 'getStream' | 'listStreams' | 'permissionsOf'>

const nothing = { partitions: 0, untilMs: Infinity }

/** Asks the registry which streams are meant, and which of them can be joined. Never rejects. */
export async function survey(options: SurveyOptions, client: SurveyedClient): Promise<Survey> {
  const failures: unknown[] = []
  const found = await findStreams(options, client, failures)
  const looked = found.slice(0, options.maxStreams)
  const looks = new Map<StreamId, Look>()
  let ignored = found.length - looked.length
  let room = options.maxParts
  for (const [id, look] of await Promise.all(
    looked.map((stream) => lookAt(stream, options, client, failures)),
  )) {
    const partitions = Math.min(look.partitions, room)
    room -= partitions
    ignored += look.partitions - partitions
    looks.set(id, { ...look, partitions })
  }
  return { looks, ignored, failures }
}

type Found = readonly [StreamId, StreamInfo | undefined]

async function findStreams(
  { patterns, joined }: SurveyOptions,
  client: SurveyedClient,
  failures: unknown[],
): Promise<Found[]> {
  const found = new Map<StreamId, StreamInfo | undefined>()
  for (const pattern of patterns) {
    if (pattern.kind === 'one') {
      found.set(pattern.streamId, found.get(pattern.streamId))
      continue
    }
    try {
      for (const stream of await client.listStreams({ owner: pattern.owner }))
        if (matches(pattern, stream.id)) found.set(stream.id, stream)
    } catch (error) {
      failures.push(error)
      for (const id of joined.keys()) if (matches(pattern, id)) found.set(id, found.get(id))
    }
  }
  return [...found].toSorted(([a], [b]) => Number(joined.has(b)) - Number(joined.has(a)))
}

async function lookAt(
  [id, known]: Found,
  { joined, nowMs }: SurveyOptions,
  client: SurveyedClient,
  failures: unknown[],
): Promise<readonly [StreamId, Look]> {
  try {
    const { partitions } = known ?? (await client.getStream(id))
    const { subscribeUntilMs: untilMs } = await client.permissionsOf(id, client.userId)
    return [id, untilMs > nowMs ? { state: 'joined', partitions, untilMs } : { state: 'denied', ...nothing }]
  } catch (error) {
    if (isRunnelError(error, 'STREAM_NOT_FOUND')) return [id, { state: 'missing', ...nothing }]
    failures.push(error)
    return [id, { state: 'failed', ...nothing, partitions: joined.get(id)?.length ?? 0 }]
  }
}
