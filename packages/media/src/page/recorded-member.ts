/// <reference lib="dom" />
import type { AudioTrack, Track, VideoTrack } from '../catalogue/catalogue.ts'
import { tracksShown } from '../catalogue/ladder.ts'
import type { RecordedObject } from '../recording/recording.ts'
import type { SoundOutput } from './play-samples.ts'
import { RecordedPictures } from './recorded-pictures.ts'
import { RecordedSound } from './recorded-sound.ts'

export type What = 'camera' | 'screen'

export interface RecordedMemberModules extends SoundOutput {
  painted(what: What, timestampUs: number): void
  damaged(reason: string): void
  /** A sound cannot be played. */
  failed(error: unknown): void
}

/** What is played now. */
export interface PlayedNow {
  /** The member's own time. */
  readonly timestampUs: number
  readonly rate: number
  readonly isRunning: boolean
}

/** Plays one member of a recording: its sounds, its camera (or a file), its screen. */
export class RecordedMember {
  readonly #modules: RecordedMemberModules
  readonly #sounds = new Map<number, RecordedSound | 'opening'>()
  readonly #pictures = new Map<What, RecordedPictures>()
  #shown: readonly VideoTrack[] = []
  #isClosed = false

  constructor(modules: RecordedMemberModules) {
    this.#modules = modules
  }

  canvasOf(what: What): HTMLCanvasElement | undefined {
    return this.#pictures.get(what)?.canvas
  }

  /** What it publishes at the moment that is played, and which rendition is wanted. */
  show(tracks: readonly Track[], rendition: number): void {
    this.#shown = tracksShown(tracks, rendition)
    for (const [what, pictures] of this.#pictures) pictures.show(this.#shownOf(what))
  }

  /** Takes a frame of a track that was read. */
  async push(track: Track, { object, place, recordedMs }: RecordedObject): Promise<void> {
    if (object.kind === 'audio' && track.kind === 'audio') (await this.#soundOf(track))?.push(object)
    else if (object.kind === 'video' && track.kind === 'video')
      this.#picturesOf(track).push(track, { ...object, ...place }, recordedMs)
  }

  tick({ timestampUs, rate, isRunning }: PlayedNow): void {
    // Of three layers each above the lowest doubles the pictures of a second.
    const maxLayer = rate >= 4 ? 0 : rate >= 2 ? 1 : 3
    for (const pictures of this.#pictures.values()) pictures.tick(timestampUs, maxLayer)
    if (isRunning) for (const sound of this.#opened()) sound.tick(timestampUs, rate)
  }

  /** Whether all pictures that were read up to that time are painted or passed over. */
  isSettled(timestampUs: number): boolean {
    return [...this.#pictures.values()].every((pictures) => pictures.isSettled(timestampUs))
  }

  /** Silent, until the next tick. */
  hush(): void {
    for (const sound of this.#opened()) sound.stop()
  }

  /** Forgets what was read. */
  clear(): void {
    for (const sound of this.#opened()) sound.clear()
    for (const pictures of this.#pictures.values()) pictures.clear()
  }

  close(): void {
    this.#isClosed = true
    for (const pictures of this.#pictures.values()) pictures.clear()
    for (const sound of this.#opened()) sound.close()
    this.#sounds.clear()
  }

  #opened(): RecordedSound[] {
    return [...this.#sounds.values()].filter((sound) => sound !== 'opening')
  }

  /** Waits for the decoder once; undefined for what is no Opus, while another call waits, and where it cannot be opened. */
  async #soundOf({ id, codec, frameMs }: AudioTrack): Promise<RecordedSound | undefined> {
    const known = this.#sounds.get(id)
    if (known !== undefined) return known === 'opening' ? undefined : known
    if (codec !== 'opus') return undefined
    this.#sounds.set(id, 'opening')
    const { context, output, failed } = this.#modules
    const sound = await RecordedSound.create(frameMs, { context, output }).catch(failed)
    if (this.#isClosed) sound?.close()
    else if (sound) this.#sounds.set(id, sound)
    return sound ?? undefined
  }

  #picturesOf(track: VideoTrack): RecordedPictures {
    const what = whatOf(track)
    const known = this.#pictures.get(what)
    if (known !== undefined) return known
    const pictures = new RecordedPictures({
      canvas: document.createElement('canvas'),
      painted: (timestampUs) => this.#modules.painted(what, timestampUs),
      damaged: (reason) => this.#modules.damaged(reason),
    })
    pictures.show(this.#shownOf(what))
    this.#pictures.set(what, pictures)
    return pictures
  }

  #shownOf(what: What): number | undefined {
    return this.#shown.find((track) => whatOf(track) === what)?.id
  }
}

const whatOf = ({ source }: Track): What => (source === 'screen' ? 'screen' : 'camera')
