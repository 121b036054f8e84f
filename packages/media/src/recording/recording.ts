import type { Message, RunnelClient } from '@runnel/client'
import { tracksRead } from '../catalogue/ladder.ts'
import { decodeObject, type MediaObject } from '../core/media-object.ts'
import { checkOptions, type OptionNames } from '../options.ts'
import { memberIdOf } from '../session/member.ts'
import type { ObjectPlace } from '../session/session-events.ts'
import { allPartitions, objectPartition } from './partitions.ts'
import type { KeyFrame } from './recording-note.ts'
import type { TimeLine, TimeRange } from './time-line.ts'

/** A frame in a recording. */
export interface RecordedObject {
  readonly memberId: string
  readonly object: MediaObject
  readonly place: ObjectPlace
  /** When it was recorded, by the recorder's clock, as far as the publisher's clock can be trusted. Unix milliseconds. */
  readonly atMs: number
  /** When the recorder published it; never earlier than for objects read before. */
  readonly recordedMs: number
}

export interface RecordingModules {
  readonly client: Pick<RunnelClient, 'resend' | 'getStream'>
}

export interface ReadOptions {
  /** The highest useful rendition; 0 is the lowest. Default: all of them. */
  readonly rendition?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Something is missing, or cannot be opened; reading goes on with the rest. */
  readonly onDamage?: ((reason: string) => void) | undefined
}

/** A frame's message is published within this time after the frame came, even by a busy recorder. */
const packedMs = 600
/** How far the dates of a note and of a message may differ. */
const keyMarginMs = 20
/** Of what somebody else sealed in the same stream. */
const sealedByOthers = 'ENCRYPTED_CONTENT'

const readOptions: OptionNames<ReadOptions> = {
  rendition: 'whole',
  signal: 'signal',
  onDamage: 'function',
}

/** A recording that can be read from any moment. Made by `openRecording`. */
export class MediaRecording {
  readonly timeLine: TimeLine
  /** Its beginning and end when it was opened. */
  readonly range: TimeRange
  readonly #streamId: string
  readonly #partitions: number
  readonly #client: RecordingModules['client']

  constructor(
    streamId: string,
    made: { readonly timeLine: TimeLine; readonly range: TimeRange; readonly partitions: number },
    { client }: RecordingModules,
  ) {
    this.#streamId = streamId
    this.timeLine = made.timeLine
    this.range = made.range
    this.#partitions = made.partitions
    this.#client = client
  }

  /**
   * Frames from `fromMs` (default: the beginning) to the end of `range`, in the order in which the recorder had them; read as they are taken. Throws
   * OPTIONS_INVALID, and what `resend` throws.
   */
  async *read(
    fromMs: number = this.range.fromMs,
    options: ReadOptions = {},
  ): AsyncGenerator<RecordedObject, void, undefined> {
    checkOptions('read', options, readOptions)
    const wanted = this.#sessionPartitions(options.rendition)
    yield* this.#objects({ from: Math.max(0, Math.floor(fromMs)), to: this.range.toMs }, wanted, options)
  }

  /** One key frame, without the frames around it; undefined if it is not stored. Throws what `resend` throws. */
  async readKey(
    { memberId, track, atMs, timestampUs }: KeyFrame,
    signal: AbortSignal,
  ): Promise<RecordedObject | undefined> {
    const wanted = this.timeLine
      .membersAt(atMs)
      .find(({ id }) => id === memberId)
      ?.catalogue.tracks.find(({ id }) => id === track)
    if (wanted === undefined) return undefined
    const around = { from: Math.max(0, atMs - keyMarginMs), to: atMs + packedMs }
    for await (const found of this.#objects(around, [wanted.partition], { signal }))
      if (
        found.memberId === memberId &&
        found.object.track === track &&
        found.object.timestampUs === timestampUs
      )
        return found
    return undefined
  }

  /** Where frames of these renditions are: all, or those that notes name. A second track that began and ended between two regular notes is in none. */
  #sessionPartitions(rendition: number | undefined): readonly number[] {
    if (rendition === undefined) return allPartitions(this.#partitions)
    // Of each member in each of its states: renditions of several are no ladder.
    const tracks = this.timeLine.members.flatMap(({ catalogue }) => tracksRead(catalogue.tracks, rendition))
    return [0, ...tracks.map(({ partition }) => partition)]
  }

  async *#objects(
    range: { readonly from: number; readonly to: number },
    sessionPartitions: readonly number[],
    { signal, onDamage }: ReadOptions,
  ): AsyncGenerator<RecordedObject, void, undefined> {
    const partitions = [...new Set(sessionPartitions.map((it) => objectPartition(it, this.#partitions)))]
    const messages = this.#client.resend(this.#streamId, range, {
      ...{ partitions, recording: true, signal },
      onGap: () => onDamage?.('a storage node lacks messages'),
      onUndecodable: ({ error }) => {
        if (error.code !== sealedByOthers) onDamage?.(error.message)
      },
    })
    for await (const message of messages) {
      const recorded = this.#recorded(message)
      if (recorded !== undefined) yield recorded
    }
  }

  #recorded(message: Message): RecordedObject | undefined {
    const { content, urgent, timestamp, recordedMs = timestamp } = message
    const object = content instanceof Uint8Array ? decodeObject(content) : undefined
    if (object === undefined || urgent === undefined) return undefined
    const memberId = memberIdOf(message)
    const offsetMs = this.timeLine.offsetMs(memberId, recordedMs)
    const atMs = offsetMs === undefined ? recordedMs : offsetMs + object.timestampUs / 1_000
    return { memberId, object, place: urgent, atMs, recordedMs }
  }
}
