import { untilAborted, type Clock } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { audioLevel } from '../core/audio-level.ts'
import { mediaError } from '../errors.ts'
import { checkOptions, type OptionNames } from '../options.ts'
import { opusDefaults, OpusPlayback } from '../opus/opus.ts'
import type { MediaSession } from '../session/media-session.ts'
import type { TrackPublisher } from '../session/track-publisher.ts'
import { pause } from '../session/pause.ts'
import { BytesReader, piecesOf, type Pieces } from './bytes-reader.ts'
import { FirstGroup } from './first-group.ts'
import { readIvf } from './ivf.ts'
import { opusPackets, type OpusPacket } from './ogg.ts'
import { opusDurationMs } from './opus-packet.ts'

/** A file this far behind goes on from now: its pipe stood still. */
const maxBehindUs = 1_000_000
/** The same if a frame would be waited for this long: its time is wrong. */
const maxAheadUs = 60_000_000

export interface PublishFileOptions {
  /** Ends publishing early. */
  readonly signal?: AbortSignal | undefined
  readonly clock?: Clock | undefined
}

export interface PublishIvfOptions extends PublishFileOptions {
  /** Pictures a second and bits a second with which the file is announced. Default: 30 and 500,000. */
  readonly framerate?: number | undefined
  readonly bitrate?: number | undefined
}

const fileOptions: OptionNames<PublishFileOptions> = { signal: 'signal', clock: true }
const ivfOptions: OptionNames<PublishIvfOptions> = { ...fileOptions, framerate: true, bitrate: true }

/**
 * Publishes Opus in Ogg at playback pace, from a file or a pipe (`createReadStream`, `process.stdin`) or from its bytes, from the first link to a
 * member on (see `MediaSession.linked`); resolves at its end, or when the session is closed meanwhile. Files joined end to end follow each other.
 * All packets must have one length, but the last of a file may be shorter. Throws FILE_INVALID,
 * OPTIONS_INVALID, SESSION_CLOSED, and the errors of `publish`.
 */
export async function publishOgg(
  session: MediaSession,
  pieces: Pieces | Uint8Array,
  options: PublishFileOptions = {},
): Promise<void> {
  checkOptions('publishOgg', options, fileOptions)
  const ended = endOf(session, options)
  const reader = new BytesReader(piecesOf(pieces), ended)
  let track: TrackPublisher | undefined
  let pace: Pace | undefined
  const lengths = new PacketLengths()
  let decoder: OpusPlayback | undefined
  try {
    requireOpen(session)
    for await (const packet of opusPackets(reader)) {
      const { data } = packet
      const frameMs = lengths.next(packet)
      decoder ??= await OpusPlayback.create(frameMs)
      if (ended.aborted) return
      track ??= announceSound(session, frameMs)
      pace ??= await startPace(session, track, ended, options)
      const timestampUs = await pace.next(pace.afterLast(frameMs * 1_000))
      if (timestampUs === undefined) return
      const samples = decoder.play({ type: 'frame', frame: { timestampUs, level: 0, data } })
      track.send({ timestampUs, data, level: samples === undefined ? 127 : audioLevel(samples) })
    }
  } catch (error) {
    if (error !== ended.reason) throw error
  } finally {
    track?.close()
    decoder?.[Symbol.dispose]()
    await reader.close()
  }
}

/** As `publishOgg`, an IVF file of VP8, VP9 or AV1. */
export async function publishIvf(
  session: MediaSession,
  pieces: Pieces | Uint8Array,
  options: PublishIvfOptions = {},
): Promise<void> {
  checkOptions('publishIvf', options, ivfOptions)
  const { framerate = 30, bitrate = 500_000 } = options
  const ended = endOf(session, options)
  const reader = new BytesReader(piecesOf(pieces), ended)
  let track: TrackPublisher | undefined
  let pace: Pace | undefined
  try {
    requireOpen(session)
    const { codec, width: codedWidth, height: codedHeight, frames } = await readIvf(reader)
    const group = new FirstGroup()
    for await (const { timestampUs: offsetUs, isKey, data } of frames) {
      track ??= session.publishTrack(
        { kind: 'video', source: 'file', codec, codedWidth, codedHeight, framerate, bitrate, altGroup: 0 },
        { sent: (neighbours) => group.sent(neighbours) },
      )
      pace ??= await startPace(session, track, ended, options)
      const timestampUs = await pace.next(offsetUs)
      if (timestampUs === undefined) return
      for (const picture of group.next({ timestampUs, isKey, data })) track.send(picture)
    }
  } catch (error) {
    if (error !== ended.reason) throw error
  } finally {
    track?.close()
    await reader.close()
  }
}

/** Checks that packets have one length, as a track has. */
class PacketLengths {
  #frameMs: number | undefined
  #shorterMs: number | undefined

  /** The length of the track's frames, for each packet in turn. Throws FILE_INVALID for one of another length, unless it is shorter and the last of its file. */
  next({ data, isFirst }: OpusPacket): number {
    const durationMs = opusDurationMs(data)
    if (durationMs === undefined) throw mediaError('FILE_INVALID', 'a packet is not Opus')
    this.#frameMs ??= durationMs
    if (isFirst && durationMs !== this.#frameMs)
      throw mediaError(
        'FILE_INVALID',
        `a file with packets of ${durationMs} ms is joined to one with packets of ${this.#frameMs} ms: publish them one after the other`,
      )
    if (isFirst) this.#shorterMs = undefined
    const otherMs = this.#shorterMs ?? (durationMs > this.#frameMs ? durationMs : undefined)
    if (otherMs !== undefined)
      throw mediaError(
        'FILE_INVALID',
        `a packet of ${otherMs} ms among packets of ${this.#frameMs} ms: only the last may be shorter`,
      )
    if (durationMs < this.#frameMs) this.#shorterMs = durationMs
    return this.#frameMs
  }
}

const announceSound = (session: MediaSession, frameMs: number): TrackPublisher =>
  session.publishTrack({
    ...{ kind: 'audio', source: 'file', codec: 'opus', frameMs, numberOfChannels: 1 },
    ...{ sampleRate: opusDefaults.sampleRate, bitrate: 64_000 },
  })

/** Aborted when the session is closed, or it is called off. */
const endOf = (session: MediaSession, { signal }: PublishFileOptions): AbortSignal =>
  AbortSignal.any([session.ended, ...(signal === undefined ? [] : [signal])])

function requireOpen(session: MediaSession): void {
  if (session.isClosed) throw mediaError('SESSION_CLOSED', 'the file is not published')
}

/** The first frame, which is a key frame, is worth waiting for a link. */
async function startPace(
  session: MediaSession,
  { track }: TrackPublisher,
  ended: AbortSignal,
  options: PublishFileOptions,
): Promise<Pace> {
  await untilAborted(session.linked(track.partition), ended)
  return new Pace(session, ended, options)
}

/** Gives each frame its time, and waits for it. */
class Pace {
  readonly #session: MediaSession
  readonly #clock: Clock
  readonly #signal: AbortSignal
  /** What offset 0 has as its time. */
  #startUs: number
  #nextOffsetUs = 0

  constructor(session: MediaSession, signal: AbortSignal, { clock = systemClock }: PublishFileOptions) {
    this.#session = session
    this.#clock = clock
    this.#signal = signal
    // On the grid of frames of 20 ms.
    this.#startUs = Math.ceil(session.nowUs() / 20_000) * 20_000
  }

  /** The offset behind all that came, which then lasts so long. */
  afterLast(durationUs: number): number {
    const offsetUs = this.#nextOffsetUs
    this.#nextOffsetUs += durationUs
    return offsetUs
  }

  /** Resolves when it is time, to the timestamp; to undefined when it was called off, or the session was closed. */
  async next(offsetUs: number): Promise<number | undefined> {
    const nowUs = this.#session.nowUs()
    const aheadUs = this.#startUs + offsetUs - nowUs
    if (aheadUs < -maxBehindUs || aheadUs > maxAheadUs)
      this.#startUs = Math.ceil((nowUs - offsetUs) / 20_000) * 20_000
    const timestampUs = this.#startUs + offsetUs
    if (timestampUs > nowUs) await pause(this.#clock, (timestampUs - nowUs) / 1_000, this.#signal)
    return this.#signal.aborted ? undefined : timestampUs
  }
}
