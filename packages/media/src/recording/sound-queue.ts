import type { AudioStep, BufferedFrame } from '../core/jitter-buffer.ts'
import { mediaLimits } from '../limits.ts'

/** Frames of one track of sound that were read, until it is their turn. Nothing comes late: what is not there is lost. */
export class SoundQueue {
  readonly #frameUs: number
  readonly #frames = new Map<number, BufferedFrame>()
  // Before the first frame there is nothing to go on with.
  #concealedInARow: number = mediaLimits.maxConcealedFrames
  #leftOut = 0

  constructor({ frameMs }: { readonly frameMs: number }) {
    this.#frameUs = frameMs * 1_000
  }

  /** Frames that there was no room for. */
  get leftOut(): number {
    return this.#leftOut
  }

  push(frame: BufferedFrame): void {
    if (this.#frames.size >= mediaLimits.maxQueuedSounds) this.#leftOut++
    else this.#frames.set(this.numberAt(frame.timestampUs), frame)
  }

  /** The number of the frame of a time. */
  numberAt(timestampUs: number): number {
    return Math.round(timestampUs / this.#frameUs)
  }

  /** What to play for a frame; those before it are dropped. */
  step(number: number): AudioStep {
    for (const known of this.#frames.keys()) if (known < number) this.#frames.delete(known)
    const frame = this.#frames.get(number)
    this.#frames.delete(number)
    if (frame !== undefined) {
      this.#concealedInARow = 0
      return { type: 'frame', frame }
    }
    if (this.#concealedInARow++ >= mediaLimits.maxConcealedFrames) return { type: 'silence' }
    const timestampUs = number * this.#frameUs
    const next = this.#frames.get(number + 1)
    return next === undefined ? { type: 'conceal', timestampUs } : { type: 'recover', next, timestampUs }
  }

  clear(): void {
    this.#frames.clear()
    this.#concealedInARow = mediaLimits.maxConcealedFrames
  }
}
