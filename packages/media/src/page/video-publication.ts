/// <reference lib="dom" />
import { chooseCodec } from '../core/codec-choice.ts'
import type { MediaSession } from '../session/media-session.ts'
import { DeviceMute } from './device-mute.ts'
import { picturesOf } from './media-streams.ts'
import { StillPicture } from './still-picture.ts'
import type { PublishedVideo, PublishVideoOptions, RenditionCounters } from './video-options.ts'
import type { VideoRendition } from './video-rendition.ts'

/** `codecs`: those that the browser encodes in all renditions. */
export interface VideoPublicationOptions extends Omit<PublishVideoOptions, 'renditions'> {
  readonly codecs: readonly string[]
  readonly renditions: readonly VideoRendition[]
}

/** What shows the same is in one group: a member can show its camera, its screen and a file side by side. */
const altGroups = { camera: 0, screen: 1, file: 2 } as const

/** Pictures that are published. Made by `publishVideo`. */
export class VideoPublication implements PublishedVideo {
  readonly #session: MediaSession
  readonly #track: MediaStreamTrack
  readonly #options: VideoPublicationOptions
  readonly #stop = new AbortController()
  readonly #mute = new DeviceMute((isMuted) => {
    for (const { publisher } of this.#renditions) publisher?.mute(isMuted)
  })
  /** Those that are left to choose from. */
  #codecs: readonly string[]
  #choosing: Promise<void> = Promise.resolve()
  /** Whether a codec is to be chosen once that is done: it is chosen for whoever is there then. */
  #isToChoose = false
  #without = ''

  constructor(session: MediaSession, track: MediaStreamTrack, options: VideoPublicationOptions) {
    this.#session = session
    this.#track = track
    this.#options = options
    this.#codecs = options.codecs
  }

  get #renditions(): readonly VideoRendition[] {
    return this.#options.renditions
  }

  get counters(): readonly RenditionCounters[] {
    return this.#renditions.map(({ counters }) => counters)
  }

  get isPaused(): boolean {
    return this.#renditions.every(({ publisher }) => publisher?.track.state === 'paused')
  }

  async start(): Promise<void> {
    this.#session.ended.addEventListener('abort', () => this.close(), { signal: this.#stop.signal })
    for (const [i, rendition] of this.#renditions.entries()) this.#announce(rendition, i)
    // Of a screen that gives nothing, the last picture still stands.
    if (this.#options.source === 'camera') this.#mute.follow(this.#track, this.#stop.signal)
    await this.#chooseCodec()
    const stopListening = this.#session.on('members', () => this.#chooseAgain())
    this.#stop.signal.addEventListener('abort', stopListening)
    void this.#encode()
  }

  mute(isMuted: boolean): void {
    this.#mute.ask(isMuted)
  }

  close(): void {
    if (this.#stop.signal.aborted) return
    this.#stop.abort()
    // The highest first: of what is left, the lowest is always published.
    for (const rendition of this.#renditions.toReversed()) rendition.close()
  }

  #announce(rendition: VideoRendition, index: number): void {
    const { source } = this.#options
    const { width: codedWidth, height: codedHeight, framerate, bitrate } = rendition.format
    const kind = 'video' as const
    rendition.publisher = this.#session.publishTrack(
      {
        ...{ kind, source, codec: this.#codecs[0] ?? '', codedWidth, codedHeight, framerate, bitrate },
        ...{ altGroup: altGroups[source], rendition: index },
        minBitsPerS: rendition.minBitsPerS,
      },
      { keyWanted: () => rendition.wantKey(), rate: (bitsPerS) => rendition.useRate(bitsPerS) },
    )
  }

  #chooseAgain(): void {
    if (this.#isToChoose) return
    this.#isToChoose = true
    this.#choosing = this.#choosing.then(() => {
      this.#isToChoose = false
      return this.#chooseCodec()
    })
  }

  async #chooseCodec(): Promise<void> {
    const { onWithout, onFault } = this.#options
    const decodes = this.#session.members.map(({ id, catalogue }) => [id, catalogue.decodes] as const)
    const choice = chooseCodec(this.#codecs, new Map(decodes))
    if (choice === undefined || this.#stop.signal.aborted) return
    try {
      for (const rendition of this.#renditions) await rendition.useCodec(choice.codec)
    } catch (error) {
      onFault?.(error)
    }
    if (this.#without === choice.without.join()) return
    this.#without = choice.without.join()
    onWithout?.(this.#session.members.filter(({ id }) => choice.without.includes(id)))
  }

  /** Another codec where the encoders of this one always fail, though the browser said that it has them. The last one is tried on. */
  #leaveFailing(): void {
    const failing = this.#renditions.map(({ failingCodec }) => failingCodec)
    const left = this.#codecs.filter((codec) => !failing.includes(codec))
    if (left.length === 0 || left.length === this.#codecs.length) return
    this.#codecs = left
    this.#chooseAgain()
  }

  async #encode(): Promise<void> {
    const still = new StillPicture((picture) => {
      const timestampUs = this.#session.nowUs()
      for (const rendition of this.#renditions) rendition.encode(picture, timestampUs)
      this.#leaveFailing()
    })
    try {
      for await (const picture of picturesOf(this.#track, this.#stop.signal)) still.take(picture)
    } catch (error) {
      this.#options.onFault?.(error)
    }
    still.close()
    this.close()
  }
}
