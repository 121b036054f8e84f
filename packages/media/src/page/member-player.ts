/// <reference lib="dom" />
import type { AudioTrack, Track } from '../catalogue/catalogue.ts'
import type { FrameCounters } from '../core/frame-order.ts'
import { tracksShown } from '../catalogue/ladder.ts'
import { LipSync } from '../core/lip-sync.ts'
import type { MediaObject } from '../core/media-object.ts'
import type { ObjectPlace } from '../session/session-events.ts'
import { AudioPlayer } from './audio-player.ts'
import { VideoPlayer } from './video-player.ts'

/** How a member is heard and seen. */
export interface MemberReport {
  /** The height of the rendition that it plays, also before its first picture is painted; undefined while there is none. */
  readonly height: number | undefined
  readonly painted: number
  readonly frames: FrameCounters
  /** Times that a decoder failed at what it publishes. */
  readonly decoderFailures: number
  /** How much the way of its sound varies (RFC 3550, section 6.4.1). */
  readonly jitterMs: number
  /** How long its sound is held back here. */
  readonly delayMs: number
  /** Of its sound, the share that was lost or late and made up by the decoder. */
  readonly concealedShare: number
  /** Frames of its sound since it is played: as they were sent, and made up. */
  readonly soundFrames: { readonly played: number; readonly concealed: number }
}

export interface MemberPlayerModules {
  readonly context: AudioContext
  readonly output: AudioNode
  wantKey(track: number): void
  /** A sound of it cannot be played. */
  failed(error: unknown): void
}

const noFrames: FrameCounters = { decoded: 0, lost: 0, late: 0, undecodable: 0 }
const whats = ['camera', 'screen'] as const
type What = (typeof whats)[number]

/** Plays what one member publishes: its sounds, its camera (or a file), its screen. */
export class MemberPlayer {
  /** Of the member: another one is another player. */
  readonly session: string
  readonly #modules: MemberPlayerModules
  readonly #lipSync = new LipSync()
  /** A promise while its decoder is opened. */
  readonly #sounds = new Map<number, AudioPlayer | Promise<AudioPlayer>>()
  readonly #pictures = new Map<What, { readonly canvas: HTMLCanvasElement; readonly player: VideoPlayer }>()

  constructor(session: string, modules: MemberPlayerModules) {
    this.session = session
    this.#modules = modules
  }

  canvasOf(what: What): HTMLCanvasElement | undefined {
    return this.#pictures.get(what)?.canvas
  }

  /** Takes those tracks of the member that can be played, and which rendition is wanted. */
  update(tracks: readonly Track[], rendition: number): void {
    const sounds = tracks.filter((track): track is AudioTrack => track.kind === 'audio')
    for (const sound of sounds) this.#open(sound).catch((error: unknown) => this.#modules.failed(error))
    for (const [id, player] of this.#sounds)
      if (!sounds.some((track) => track.id === id)) this.#closeSound(id, player)
    const shown = tracksShown(tracks, rendition)
    for (const what of whats) {
      const track = shown.find(({ source }) => (source === 'screen') === (what === 'screen'))
      const isThere = tracks.some(
        ({ kind, source }) => kind === 'video' && (source === 'screen') === (what === 'screen'),
      )
      if (track !== undefined) this.#playerOf(what).show(track)
      else if (!isThere) this.#closePictures(what)
    }
  }

  push(object: MediaObject, place: ObjectPlace, nowMs: number): void {
    if (object.kind === 'audio') {
      const player = this.#sounds.get(object.track)
      if (player instanceof AudioPlayer) player.push(object, nowMs)
    } else
      for (const { player } of this.#pictures.values())
        player.push(object.track, { ...object, ...place }, nowMs)
  }

  tick(nowMs: number): void {
    for (const player of this.#sounds.values()) if (player instanceof AudioPlayer) player.tick(nowMs)
    for (const { player } of this.#pictures.values()) player.tick(nowMs)
  }

  paint(nowMs: number): void {
    for (const { player } of this.#pictures.values()) player.paint(nowMs)
  }

  get report(): MemberReport {
    const sound = [...this.#sounds.values()].find((player) => player instanceof AudioPlayer)
    const { played = 0, recovered = 0, concealed: lost = 0 } = sound?.counters ?? {}
    const concealed = recovered + lost
    const camera = this.#pictures.get('camera')?.player
    return {
      height: camera?.track?.codedHeight,
      painted: camera?.counters.painted ?? 0,
      frames: camera?.frames ?? noFrames,
      decoderFailures: [...this.#pictures.values()].reduce(
        (sum, { player }) => sum + player.counters.decoderFailures,
        0,
      ),
      jitterMs: sound?.jitterMs ?? this.#lipSync.jitterMs,
      delayMs: sound?.delayMs ?? 0,
      concealedShare: concealed / Math.max(1, played + concealed),
      soundFrames: { played, concealed },
    }
  }

  close(): void {
    for (const [id, player] of this.#sounds) this.#closeSound(id, player)
    for (const what of whats) this.#closePictures(what)
  }

  async #open({ id, frameMs, codec }: AudioTrack): Promise<void> {
    if (this.#sounds.has(id) || codec !== 'opus') return
    const { context, output } = this.#modules
    const opening = AudioPlayer.create(frameMs, {
      ...{ context, output },
      heard: (timestampUs, atMs) => this.#lipSync.heard(timestampUs, atMs),
    })
    this.#sounds.set(id, opening)
    const player = await opening
    // It may have gone meanwhile, and even come back.
    if (this.#sounds.get(id) === opening) this.#sounds.set(id, player)
    else player.close()
  }

  #playerOf(what: What): VideoPlayer {
    const known = this.#pictures.get(what)
    if (known !== undefined) return known.player
    const canvas = document.createElement('canvas')
    const { wantKey } = this.#modules
    const player = new VideoPlayer({ canvas, lipSync: this.#lipSync, wantKey })
    this.#pictures.set(what, { canvas, player })
    return player
  }

  #closeSound(id: number, player: AudioPlayer | Promise<AudioPlayer>): void {
    this.#sounds.delete(id)
    if (player instanceof AudioPlayer) player.close()
  }

  #closePictures(what: What): void {
    this.#pictures.get(what)?.player.close()
    this.#pictures.delete(what)
  }
}
