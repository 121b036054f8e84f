/// <reference lib="dom" />
import type { Track, VideoTrack } from '../catalogue/catalogue.ts'
import { canDecode } from './codecs.ts'

/** Which of the codecs that members publish in this browser decodes: it is asked once for each, and nobody waits for its answer. */
export class DecodableCodecs {
  readonly #learned: () => void
  /** Those of now; true until the browser has said otherwise. */
  #codecs = new Map<string, boolean>()

  /** `learned` is called when there is another codec that it does not decode. */
  constructor(learned: () => void) {
    this.#learned = learned
  }

  /** Asks for the codecs of these tracks, and forgets all others. */
  use(tracks: readonly Track[]): void {
    const before = this.#codecs
    this.#codecs = new Map()
    for (const { codec } of tracks.filter(isVideo)) {
      this.#codecs.set(codec, before.get(codec) ?? true)
      if (!before.has(codec)) void this.#ask(codec)
    }
  }

  /** Those of the tracks that are of use here: sound, and what the browser decodes. */
  among(tracks: readonly Track[]): readonly Track[] {
    return tracks.filter((track) => !isVideo(track) || this.#codecs.get(track.codec) !== false)
  }

  async #ask(codec: string): Promise<void> {
    if ((await canDecode(codec)) || !this.#codecs.has(codec)) return
    this.#codecs.set(codec, false)
    this.#learned()
  }
}

const isVideo = (track: Track): track is VideoTrack => track.kind === 'video'
