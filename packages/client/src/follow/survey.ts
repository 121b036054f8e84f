import { isRunnelError, mapAtOnce, type NodeId, type StreamId } from '@runnel/protocol'
import type { Permissions, StreamInfo } from '../registry/ports.ts'
import { matches, type StreamPattern } from './stream-pattern.ts'

/** What the registry says of a stream that is to be followed. */
export interface Look {
  /** `denied`: the user may not read it; `missing`: there is none; `failed`: the registry did not say. */
  readonly state: 'readable' | 'denied' | 'missing' | 'failed'
  /** To take part in: all, or those held already where all are too many or nothing is known. */
  readonly partitions: number
  /** Until when it may be read, in Unix milliseconds. */
  readonly untilMs: number
  /** Why it failed. */
  readonly error?: unknown
}

/** What is left out because it is too much; of a stream that was not looked at one part counts. */
export interface LeftOut {
  readonly streams: number
  readonly parts: number
}

export interface Survey {
  readonly looks: ReadonlyMap<StreamId, Look>
  readonly leftOut: LeftOut
  /** Why not all streams that are meant are known. */
  readonly unlisted: unknown
}

export interface SurveyOptions {
  readonly patterns: readonly StreamPattern[]
  /** How many partitions of each stream are held: newer streams take nothing from them. */
  readonly held: ReadonlyMap<StreamId, number>
  /** Streams that may be followed. */
  readonly maxStreams: number
  /** Streams that are looked at, also those that may not be read. */
  readonly maxLooks: number
  /** Partitions of all streams that may be followed. */
  readonly maxParts: number
  /** Unix milliseconds. */
  readonly nowMs: number
}

/** What a survey asks: a client. */
export interface SurveyedClient {
  readonly userId: NodeId
  getStream(streamId: string): Promise<StreamInfo>
  listStreams(filter: { readonly owner: string }): Promise<readonly StreamInfo[]>
  permissionsOf(streamId: string, user: string): Promise<Permissions>
}

/** Streams looked at concurrently. */
export const maxAtOnce = 32

const nothing = { partitions: 0, untilMs: Infinity }

/**
 * Asks the registry which streams are meant, and which of them can be followed: whole, those held already first, then the oldest.
 * Never rejects.
 */
export async function survey(options: SurveyOptions, client: SurveyedClient): Promise<Survey> {
  const { found, unlisted } = await findStreams(options, client)
  const looks = new Map<StreamId, Look>()
  const leftOut = { streams: Math.max(0, found.length - options.maxLooks), parts: 0 }
  leftOut.parts = leftOut.streams
  let [streams, parts] = [options.maxStreams, options.maxParts]
  const looked = await mapAtOnce(found.slice(0, options.maxLooks), maxAtOnce, (one) =>
    lookAt(one, options, client),
  )
  for (const [id, wanted] of looked) {
    const held = options.held.get(id) ?? 0
    const fits = streams > 0 && wanted.partitions <= parts
    const partitions = fits ? wanted.partitions : Math.min(held, wanted.partitions)
    leftOut.parts += wanted.partitions - partitions
    if (partitions < wanted.partitions) leftOut.streams++
    if (partitions < wanted.partitions && partitions === 0) continue
    parts -= partitions
    if (partitions > 0) streams--
    looks.set(id, { ...wanted, partitions })
  }
  return { looks, leftOut, unlisted }
}

type Found = readonly [StreamId, StreamInfo | undefined]

async function findStreams(
  { patterns, held }: SurveyOptions,
  client: SurveyedClient,
): Promise<{ found: readonly Found[]; unlisted: unknown }> {
  const found = new Map<StreamId, StreamInfo | undefined>()
  let unlisted: unknown
  for (const pattern of patterns) {
    if (pattern.kind === 'one') {
      found.set(pattern.streamId, found.get(pattern.streamId))
      continue
    }
    try {
      for (const stream of await client.listStreams({ owner: pattern.owner }))
        if (matches(pattern, stream.id)) found.set(stream.id, stream)
    } catch (error) {
      unlisted = error
      for (const id of held.keys()) if (matches(pattern, id)) found.set(id, found.get(id))
    }
  }
  const rank = ([id, stream]: Found) => (held.has(id) ? -1 : (stream?.createdMs ?? 0))
  return { found: [...found].toSorted((a, b) => rank(a) - rank(b)), unlisted }
}

async function lookAt(
  [id, known]: Found,
  { held, nowMs }: SurveyOptions,
  client: SurveyedClient,
): Promise<readonly [StreamId, Look]> {
  try {
    const { partitions } = known ?? (await client.getStream(id))
    const { subscribeUntilMs: untilMs } = await client.permissionsOf(id, client.userId)
    return [
      id,
      untilMs > nowMs ? { state: 'readable', partitions, untilMs } : { state: 'denied', ...nothing },
    ]
  } catch (error) {
    if (isRunnelError(error, 'STREAM_NOT_FOUND')) return [id, { state: 'missing', ...nothing }]
    return [id, { state: 'failed', ...nothing, partitions: held.get(id) ?? 0, error }]
  }
}
