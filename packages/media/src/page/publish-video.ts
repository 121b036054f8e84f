/// <reference lib="dom" />
import { chooseCodec } from '../core/codec-choice.ts'
import { mediaError } from '../errors.ts'
import { checkOptions, type OptionNames } from '../options.ts'
import type { Member } from '../session/member.ts'
import type { MediaSession } from '../session/media-session.ts'
import { supportedCodecs, type PictureFormat } from './codecs.ts'
import { picturesOf } from './media-streams.ts'
import { VideoRendition, type RenditionCounters } from './video-rendition.ts'

/** One size of the published pictures. */
export interface RenditionOptions {
  readonly height: number
  readonly framerate: number
  /** Bits a second, as far as the network allows. */
  readonly bitrate: number
  /** Below it the rendition pauses. */
  readonly minBitsPerS: number
}

/** 180p and 360p: what fits a tile, and what fits a page. */
export const usualRenditions: readonly RenditionOptions[] = [
  { height: 180, framerate: 15, bitrate: 120_000, minBitsPerS: 60_000 },
  { height: 360, framerate: 30, bitrate: 500_000, minBitsPerS: 250_000 },
]
/** A screen moves little, and is read. */
export const screenRenditions: readonly RenditionOptions[] = [
  { height: 720, framerate: 8, bitrate: 600_000, minBitsPerS: 200_000 },
]

export interface PublishVideoOptions {
  readonly source: 'camera' | 'screen' | 'file'
  /** The lowest first. Default: `usualRenditions`; for a screen, `screenRenditions`. */
  readonly renditions?: readonly RenditionOptions[] | undefined
  /** Codecs, the preferred first. Default: all that the browser encodes. */
  readonly codecs?: readonly string[] | undefined
  /** The encoder failed, and goes on with a key frame. */
  readonly onFault?: ((error: unknown) => void) | undefined
  /** Some members decode no codec that this browser encodes, so they do not see it. */
  readonly onWithout?: ((members: readonly Member[]) => void) | undefined
}

const renditionOptions: OptionNames<RenditionOptions> = {
  height: true,
  framerate: true,
  bitrate: true,
  minBitsPerS: true,
}
const names: OptionNames<PublishVideoOptions> = {
  source: true,
  renditions: true,
  codecs: true,
  onFault: true,
  onWithout: true,
}

/** Published pictures. */
export interface PublishedVideo {
  readonly counters: readonly RenditionCounters[]
  /** Whether the network now has room for none of its renditions: others hear, but do not see. */
  readonly isPaused: boolean
  mute(isMuted: boolean): void
  /** Ends publishing; the browser's track goes on. Idempotent. */
  close(): void
}

/** Publishes the pictures of a track in its renditions, until it or the session ends, in a codec that all members decode if there is one. Throws NO_CODEC and OPTIONS_INVALID. */
export async function publishVideo(
  session: MediaSession,
  track: MediaStreamTrack,
  options: PublishVideoOptions,
): Promise<PublishedVideo> {
  checkOptions('publishVideo', options, names)
  for (const rendition of options.renditions ?? []) checkOptions('a rendition', rendition, renditionOptions)
  const codecs = options.codecs ?? (await supportedCodecs()).encodes
  if (codecs[0] === undefined) throw mediaError('NO_CODEC', 'it has no video encoder')
  const published = new VideoPublication(session, track, { ...options, codecs })
  try {
    await published.start()
  } catch (error) {
    published.close()
    throw error
  }
  return published
}

class VideoPublication implements PublishedVideo {
  readonly #session: MediaSession
  readonly #track: MediaStreamTrack
  readonly #options: PublishVideoOptions & { readonly codecs: readonly string[] }
  readonly #stop = new AbortController()
  readonly #renditions: readonly VideoRendition[]
  #choosing: Promise<void> = Promise.resolve()
  /** Whether a codec is to be chosen once that is done: it is chosen for whoever is there then. */
  #isToChoose = false
  #without = ''

  constructor(
    session: MediaSession,
    track: MediaStreamTrack,
    options: PublishVideoOptions & { readonly codecs: readonly string[] },
  ) {
    this.#session = session
    this.#track = track
    this.#options = options
    const usual = options.source === 'screen' ? screenRenditions : usualRenditions
    const onFault = options.onFault ?? (() => {})
    const { width = 640, height = 360 } = track.getSettings()
    this.#renditions = (options.renditions ?? usual).map(
      (rendition) => new VideoRendition(formatOf(rendition, width / height), onFault),
    )
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
    await this.#chooseCodec()
    const stopListening = this.#session.on('members', () => this.#chooseAgain())
    this.#stop.signal.addEventListener('abort', stopListening)
    void this.#encode()
  }

  mute(isMuted: boolean): void {
    for (const { publisher } of this.#renditions) publisher?.mute(isMuted)
  }

  close(): void {
    if (this.#stop.signal.aborted) return
    this.#stop.abort()
    // The highest first: of what is left, the lowest is always published.
    for (const rendition of this.#renditions.toReversed()) rendition.close()
  }

  #announce(rendition: VideoRendition, index: number): void {
    const {
      source,
      codecs,
      renditions = source === 'screen' ? screenRenditions : usualRenditions,
    } = this.#options
    const { width: codedWidth, height: codedHeight, framerate, bitrate } = rendition.format
    const kind = 'video' as const
    rendition.publisher = this.#session.publishTrack(
      {
        ...{ kind, source, codec: codecs[0] ?? '', codedWidth, codedHeight, framerate, bitrate },
        ...{ altGroup: source === 'camera' ? 0 : 1, rendition: index },
        minBitsPerS: renditions[index]?.minBitsPerS,
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
    const { codecs, onWithout, onFault } = this.#options
    const decodes = this.#session.members.map(({ id, catalogue }) => [id, catalogue.decodes] as const)
    const choice = chooseCodec(codecs, new Map(decodes))
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

  async #encode(): Promise<void> {
    try {
      for await (const picture of picturesOf(this.#track, this.#stop.signal)) {
        const timestampUs = this.#session.nowUs()
        for (const rendition of this.#renditions) rendition.encode(picture, timestampUs)
        picture.close()
      }
    } catch (error) {
      this.#options.onFault?.(error)
    }
    this.close()
  }
}

/** In the shape of the track, with sides that encoders take. */
function formatOf({ height, framerate, bitrate }: RenditionOptions, ratio: number): PictureFormat {
  return { width: 2 * Math.round((height * ratio) / 2), height, framerate, bitrate }
}
