/// <reference lib="dom" />
import type { AudioObject } from '../core/media-object.ts'
import { opusDefaults, OpusPlayback } from '../opus/opus.ts'
import { SoundQueue } from '../recording/sound-queue.ts'
import { TimeStretch } from '../recording/time-stretch.ts'
import { playSamples, type SoundOutput } from './play-samples.ts'

/** How early sound is given to the browser: what a busy page needs. */
const leadMs = 80
/** Above this rate there is no sound: nobody understands it. */
const maxHeardRate = 2
/** Sound this far from the pictures is moved to them. */
const maxApartMs = 160

/** Plays one track of sound of a recording at the rates that it is told, at its own pitch. */
export class RecordedSound {
  readonly #modules: SoundOutput
  readonly #frameMs: number
  readonly #queue: SoundQueue
  readonly #playback: OpusPlayback
  readonly #sources = new Set<AudioBufferSourceNode>()
  #stretch: TimeStretch | undefined
  #rate = 1
  /** When the next frame is heard, by the clock of the context. */
  #nextS = 0
  /** The frame that is decoded next. */
  #turn: number | undefined

  private constructor(frameMs: number, playback: OpusPlayback, modules: SoundOutput) {
    this.#modules = modules
    this.#frameMs = frameMs
    this.#queue = new SoundQueue({ frameMs })
    this.#playback = playback
  }

  static async create(frameMs: number, modules: SoundOutput): Promise<RecordedSound> {
    return new RecordedSound(frameMs, await OpusPlayback.create(frameMs), modules)
  }

  push(object: AudioObject): void {
    this.#queue.push(object)
  }

  /** Plays what is due: called every few milliseconds with the member's time that is seen now. */
  tick(timestampUs: number, rate: number): void {
    const { context } = this.#modules
    if (context.state !== 'running') return
    if (rate !== this.#rate) this.#useRate(rate)
    if (rate > maxHeardRate) return
    const { currentTime, outputLatency } = context
    if (this.#nextS < currentTime) this.#nextS = currentTime + leadMs / 2_000
    while (this.#nextS - currentTime < leadMs / 1_000) {
      const aheadMs = (this.#nextS - currentTime + outputLatency) * 1_000
      const samples = this.#samples(timestampUs + aheadMs * 1_000 * rate)
      if (samples !== undefined) this.#play(samples)
      this.#nextS += this.#frameMs / 1_000
    }
  }

  /** Silent at once: what was given to the browser is called off. */
  stop(): void {
    for (const source of this.#sources) source.stop()
    this.#sources.clear()
    this.#nextS = 0
    this.#turn = undefined
    this.#stretch = this.#rate === 1 ? undefined : new TimeStretch(this.#rate)
  }

  /** Forgets what was read. */
  clear(): void {
    this.stop()
    this.#queue.clear()
  }

  close(): void {
    this.stop()
    this.#playback[Symbol.dispose]()
  }

  #useRate(rate: number): void {
    this.#rate = rate
    this.stop()
  }

  /** Of one frame's length, for what is seen then. */
  #samples(timestampUs: number): Float32Array | undefined {
    const stretch = this.#stretch
    if (stretch === undefined) return this.#decodeNext(timestampUs)
    const length = (opusDefaults.sampleRate * this.#frameMs) / 1_000
    for (;;) {
      const samples = stretch.pull(length)
      if (samples !== undefined) return samples
      stretch.push(this.#decodeNext(timestampUs) ?? new Float32Array(length))
    }
  }

  #decodeNext(timestampUs: number): Float32Array | undefined {
    const due = this.#queue.numberAt(timestampUs)
    const isApart = Math.abs(due - (this.#turn ?? Infinity)) * this.#frameMs > maxApartMs
    const turn = isApart ? due : (this.#turn ?? due)
    this.#turn = turn + 1
    return this.#playback.play(this.#queue.step(turn))
  }

  #play(samples: Float32Array): void {
    const source = playSamples(this.#modules, samples, this.#nextS)
    source.onended = () => this.#sources.delete(source)
    this.#sources.add(source)
  }
}
