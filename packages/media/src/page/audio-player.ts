/// <reference lib="dom" />
import { JitterBuffer, type AudioStep, type JitterCounters } from '../core/jitter-buffer.ts'
import type { AudioObject } from '../core/media-object.ts'
import { OpusPlayback } from '../opus/opus.ts'
import { playSamples, type SoundOutput } from './play-samples.ts'

/** How long before its time a replacement is chosen for a frame that has not come. */
const leadMs = 15
/** Frames go to the browser as they come, to be heard though the page stands still; at most this long before their time, as they cannot be taken back. */
const aheadMs = 200

export interface AudioPlayerModules extends SoundOutput {
  /** Sound of this time is heard at that moment, by `performance.now`. */
  heard(timestampUs: number, atMs: number): void
}

/** Plays one track of sound. */
export class AudioPlayer {
  readonly #modules: AudioPlayerModules
  readonly #frameMs: number
  readonly #buffer: JitterBuffer
  readonly #playback: OpusPlayback
  /** When the next frame is heard, by the clock of the context. */
  #nextS = 0

  private constructor(frameMs: number, playback: OpusPlayback, modules: AudioPlayerModules) {
    this.#modules = modules
    this.#frameMs = frameMs
    this.#buffer = new JitterBuffer({ frameMs })
    this.#playback = playback
  }

  static async create(frameMs: number, modules: AudioPlayerModules): Promise<AudioPlayer> {
    return new AudioPlayer(frameMs, await OpusPlayback.create(frameMs), modules)
  }

  get counters(): JitterCounters {
    return this.#buffer.counters
  }

  get jitterMs(): number {
    return this.#buffer.jitterMs
  }

  /** How long sound is held back here. */
  get delayMs(): number {
    return this.#buffer.targetMs + leadMs
  }

  push(object: AudioObject, nowMs: number): void {
    this.#buffer.push(object, nowMs)
    this.tick(nowMs)
  }

  /** Plays what is due, and what is there: called every few milliseconds. */
  tick(nowMs: number): void {
    const { context } = this.#modules
    if (context.state !== 'running') return
    const { currentTime } = context
    // The page stood still: nothing of that is made up for.
    if (this.#nextS < currentTime) this.#nextS = currentTime + leadMs / 1_000
    for (;;) {
      const heardMs = nowMs + (this.#nextS - currentTime) * 1_000
      const step = this.#stepFor(heardMs, nowMs)
      if (step === undefined) return
      this.#play(step, heardMs + context.outputLatency * 1_000)
      this.#nextS += this.#frameMs / 1_000
    }
  }

  close(): void {
    this.#playback[Symbol.dispose]()
  }

  #stepFor(heardMs: number, nowMs: number): AudioStep | undefined {
    const atMs = heardMs - leadMs
    if (atMs <= nowMs) return this.#buffer.pull(atMs)
    return heardMs - aheadMs <= nowMs ? this.#buffer.pullAhead(atMs) : undefined
  }

  #play(step: AudioStep, heardMs: number): void {
    const samples = this.#playback.play(step)
    if (samples === undefined) return
    playSamples(this.#modules, samples, this.#nextS)
    if (step.type === 'frame') this.#modules.heard(step.frame.timestampUs, heardMs)
  }
}
