/// <reference lib="dom" />
import type { OptionNames } from '../options.ts'
import type { Member } from '../session/member.ts'

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
  /** Codecs, the preferred first; those that the browser does not encode in all renditions are left out. Default: all that it encodes. */
  readonly codecs?: readonly string[] | undefined
  /** The encoder failed, and goes on with a key frame. */
  readonly onFault?: ((error: unknown) => void) | undefined
  /** Some members decode no codec that this browser encodes, so they do not see it. */
  readonly onWithout?: ((members: readonly Member[]) => void) | undefined
}

export const renditionOptions: OptionNames<RenditionOptions> = {
  height: true,
  framerate: true,
  bitrate: true,
  minBitsPerS: true,
}
export const publishVideoOptions: OptionNames<PublishVideoOptions> = {
  source: true,
  renditions: true,
  codecs: true,
  onFault: true,
  onWithout: true,
}

/** What became of pictures before they were encoded. */
export interface RenditionCounters {
  readonly encoded: number
  /** Left out, as the encoder had enough to do. */
  readonly skipped: number
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

/** Those that are published. */
export const renditionsOf = ({ source, renditions }: PublishVideoOptions): readonly RenditionOptions[] =>
  renditions ?? (source === 'screen' ? screenRenditions : usualRenditions)
