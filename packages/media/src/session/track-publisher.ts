import type { UrgentOptions } from '@runnel/client'
import type { Track, VideoTrack } from '../catalogue/catalogue.ts'
import type { PlannedRendition } from '../core/rate-plan.ts'
import { FrameNumbers } from '../core/frame-numbers.ts'
import { encodeObject, maxHeaderBytes } from '../core/media-object.ts'
import { mediaError } from '../errors.ts'
import { mediaLimits } from '../limits.ts'
import type { OptionNames } from '../options.ts'

/** Sound goes before pictures, and within the share of those that go first. */
const audioPriority = 20
/** Pictures: so much for the lowest rendition, more for each above it, and for each layer. */
const videoPriority = 96
const perRendition = 32
const perLayer = 8

/** How long a frame of sound is useful on its way. */
const audioLifetimeMs = 500
/** The same for a picture: longer, as others build on it. */
const videoLifetimeMs = 1_000

/** One frame as an encoder gives it. */
export interface EncodedFrame {
  /** By `MediaSession.nowUs`. */
  readonly timestampUs: number
  readonly data: Uint8Array
  /** For a picture: whether it builds on no other. Default false. */
  readonly isKey?: boolean | undefined
  /** For a picture: 0 (default) to 3. */
  readonly temporalLayer?: number | undefined
  /** For sound: how loud, as in `AudioObject`. Default: 127, silence. */
  readonly level?: number | undefined
}

/** Events of a track while it is published. */
export interface TrackEvents {
  /** Somebody cannot go on without a key frame. */
  keyWanted?(): void
  /** The rate for the encoder from now on, in bits a second; 0 pauses it. */
  rate?(bitsPerS: number): void
  /** A frame was handed to the network, for so many neighbours: with none, nobody gets it. */
  sent?(neighbours: number): void
}

export const trackEvents: OptionNames<TrackEvents> = {
  keyWanted: 'function',
  rate: 'function',
  sent: 'function',
}

export interface TrackModules {
  publish(content: Uint8Array, partition: number, urgent: UrgentOptions, sent: TrackEvents['sent']): void
  /** The catalogue has to be published again. */
  changed(): void
  /** The number of the next group in a partition. */
  nextGroup(partition: number): number
  /** Whether no other track is in its partition. */
  isAlone(track: Track): boolean
  monotonicMs(): number
  closed(publisher: TrackPublisher): void
}

/** How a track was sent. */
export interface TrackCounters {
  readonly frames: number
  readonly bytes: number
  /** Frames too large for a message. */
  readonly framesTooLarge: number
  /** Pictures before a key frame, which nobody could decode. */
  readonly framesUnnumbered: number
}

/** Publishes one track of a session. Made by `MediaSession.publishTrack`. */
export class TrackPublisher {
  readonly plan: PlannedRendition
  /** Which of the renditions of its group it is, 0 the lowest. */
  readonly rendition: number
  readonly #modules: TrackModules
  readonly #events: TrackEvents
  #numbers = new FrameNumbers()
  readonly #counters = { frames: 0, bytes: 0, framesTooLarge: 0, framesUnnumbered: 0 }
  #track: Track
  #group = 0
  #isMuted: boolean
  #isLeftOut = false
  #bitsPerS: number
  /** What its encoder was told last. */
  #toldBitsPerS: number
  #keyWantedMs = -Infinity

  constructor(track: Track, options: TrackPublisherOptions, modules: TrackModules) {
    this.#track = track
    this.plan = options.plan
    this.rendition = options.rendition
    this.#events = options.events
    this.#modules = modules
    this.#isMuted = track.state === 'muted'
    this.#bitsPerS = options.plan.maxBitsPerS
    this.#toldBitsPerS = this.#bitsPerS
  }

  /** The track as it stands in the catalogue. */
  get track(): Track {
    return this.#track
  }

  get counters(): TrackCounters {
    return this.#counters
  }

  /** The rate for its encoder; 0 while the network has no room for it, or it is left out. */
  get bitsPerS(): number {
    return this.#isLeftOut ? 0 : this.#bitsPerS
  }

  /** Sends one frame, unless the track is muted or paused. After unsent pictures, the next must be a key frame. Throws TRACK_INVALID for what is no frame. */
  send(frame: EncodedFrame): void {
    const { timestampUs, data } = Object(frame) as Partial<EncodedFrame>
    if (
      !(data instanceof Uint8Array) ||
      !(typeof timestampUs === 'number' && timestampUs >= 0 && timestampUs < Infinity)
    )
      throw mediaError('TRACK_INVALID', 'a frame has data, a Uint8Array, and timestampUs, a number from 0')
    const isTooLarge = frame.data.length + maxHeaderBytes > mediaLimits.maxObjectBytes
    if (isTooLarge) this.#counters.framesTooLarge++
    if (isTooLarge || this.#track.state !== 'live') this.#numbers = new FrameNumbers()
    else if (this.#track.kind === 'audio') this.#sendAudio(frame)
    else this.#sendPicture(frame)
  }

  mute(isMuted: boolean): void {
    this.#isMuted = isMuted
    this.#update({})
  }

  /** Switches to another codec; the next picture must be a key frame. */
  useCodec(codec: string): void {
    this.#update({ codec })
  }

  /** Pictures have another size from the next key frame on. */
  useSize(size: Pick<VideoTrack, 'codedWidth' | 'codedHeight'>): void {
    if (this.#track.kind === 'video') this.#update(size)
  }

  /** For the session, which divides a rate among its tracks. */
  useRate(bitsPerS: number): void {
    this.#bitsPerS = bitsPerS
    this.#tellRate()
  }

  /** Whether the session leaves it out, as the computer is too busy for it, or nobody reads it. */
  get isLeftOut(): boolean {
    return this.#isLeftOut
  }

  /** For the session. */
  leaveOut(isLeftOut: boolean): void {
    this.#isLeftOut = isLeftOut
    this.#tellRate()
  }

  /** For the session: somebody asks for a key frame. */
  keyWanted(): void {
    const nowMs = this.#modules.monotonicMs()
    if (nowMs - this.#keyWantedMs < mediaLimits.keyRequestEveryMs) return
    this.#keyWantedMs = nowMs
    this.#events.keyWanted?.()
  }

  close(): void {
    this.#modules.closed(this)
  }

  #tellRate(): void {
    this.#update({})
    if (this.bitsPerS === this.#toldBitsPerS) return
    this.#toldBitsPerS = this.bitsPerS
    this.#events.rate?.(this.bitsPerS)
  }

  #update(change: Partial<Pick<VideoTrack, 'codec' | 'codedWidth' | 'codedHeight'>>): void {
    const state = this.#isMuted ? 'muted' : this.bitsPerS === 0 ? 'paused' : 'live'
    const before: Readonly<Record<string, unknown>> = this.#track
    const track = { ...this.#track, ...change, state } as Track
    if (Object.entries(track).every(([field, value]) => before[field] === value)) return
    this.#track = track
    this.#modules.changed()
  }

  #sendAudio({ timestampUs, level = 127, data }: EncodedFrame): void {
    const { id: track, partition } = this.#track
    const content = encodeObject({ kind: 'audio', track, timestampUs, level, data })
    const group = this.#modules.nextGroup(partition)
    this.#publish(content, { lifetimeMs: audioLifetimeMs, priority: audioPriority, group })
  }

  #sendPicture({ timestampUs, isKey = false, temporalLayer = 0, data }: EncodedFrame): void {
    const { id: track, partition } = this.#track
    const numbered = this.#numbers.number({ isKey, temporalLayer })
    if (numbered === undefined) {
      this.#counters.framesUnnumbered++
      return
    }
    if (isKey) this.#group = this.#modules.nextGroup(partition)
    const { object, dependency } = numbered
    this.#publish(
      encodeObject({ kind: 'video', track, timestampUs, isKey, temporalLayer, dependency, data }),
      {
        lifetimeMs: videoLifetimeMs,
        priority: videoPriority + perRendition * Math.min(this.rendition, 3) + perLayer * temporalLayer,
        group: this.#group,
        object,
        // Of tracks that share a chain, the key frame of one would take the place of what the others sent.
        order: this.#modules.isAlone(this.#track) ? 'newest-only' : 'newest',
      },
    )
  }

  #publish(content: Uint8Array, urgent: UrgentOptions): void {
    this.#counters.frames++
    this.#counters.bytes += content.length
    this.#modules.publish(content, this.#track.partition, urgent, this.#events.sent)
  }
}

export interface TrackPublisherOptions {
  readonly plan: PlannedRendition
  readonly rendition: number
  readonly events: TrackEvents
}
