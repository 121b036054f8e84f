import { mediaLimits } from '../limits.ts'
import { DelayEstimate } from './delay-estimate.ts'

export interface BufferedFrame {
  readonly timestampUs: number
  /** As in `AudioObject`. */
  readonly level: number
  readonly data: Uint8Array
}

/** What to play for the next `frameMs`. */
export type AudioStep =
  | { readonly type: 'frame'; readonly frame: BufferedFrame }
  /** The frame is lost; `next`, the frame after it, holds a copy of lower quality (RFC 6716, section 2.1.7). */
  | { readonly type: 'recover'; readonly next: BufferedFrame; readonly timestampUs: number }
  /** The decoder makes up a frame that is lost or late. */
  | { readonly type: 'conceal'; readonly timestampUs: number }
  | { readonly type: 'silence' }

/** How audio frames fared. */
export interface JitterCounters {
  readonly played: number
  readonly recovered: number
  readonly concealed: number
  /** Frames that came after their turn, or twice. */
  readonly late: number
  /** Frames left out because they waited longer than the target. */
  readonly skipped: number
}

const silentLevel = 50
/** The delay is changed by one frame at a time, at most this often. */
const adjustEveryMs = 100

/**
 * Puts the audio frames of one track in order, and decides what is played at each moment. The measured jitter sets how long frames are held
 * back. While no later frame is there, a missing frame is late rather than lost: it is waited for and played, and the delay is made up for
 * later, first where it is quiet. It is lost when a later frame is there and it was waited for as long as others are held back.
 */
export class JitterBuffer {
  readonly #frameMs: number
  readonly #delay = new DelayEstimate()
  readonly #frames = new Map<number, BufferedFrame>()
  readonly #counters = { played: 0, recovered: 0, concealed: 0, late: 0, skipped: 0 }
  /** The number of the frame whose turn it is; undefined while nothing plays. */
  #turn: number | undefined
  #concealedInARow = 0
  #adjustedMs = -Infinity

  constructor(options: { readonly frameMs: number }) {
    this.#frameMs = options.frameMs
  }

  get counters(): JitterCounters {
    return this.#counters
  }

  get jitterMs(): number {
    return this.#delay.jitterMs
  }

  /** How long a frame is held back, counted from the arrival of the fastest. */
  get targetMs(): number {
    return Math.min(this.#delay.spreadMs + this.#frameMs, mediaLimits.maxJitterDelayMs)
  }

  /** Frames that wait. */
  get size(): number {
    return this.#frames.size
  }

  push(frame: BufferedFrame, nowMs: number): void {
    const number = this.#numberOf(frame)
    if (this.#turn !== undefined && Math.abs(number - this.#turn) > mediaLimits.maxJitterFrames)
      this.#beginAnew()
    this.#delay.add(frame.timestampUs / 1_000, nowMs)
    if (this.#frames.has(number) || (this.#turn !== undefined && number < this.#turn)) {
      this.#counters.late++
      return
    }
    this.#frames.set(number, frame)
    if (this.#frames.size > mediaLimits.maxJitterFrames) this.#drop(this.#oldest())
  }

  /** What to play at this moment; called once for each `frameMs`. */
  pull(nowMs: number): AudioStep {
    const frame = this.#next(nowMs, false)
    if (frame !== undefined) return frame
    if (this.#turn === undefined) return { type: 'silence' }
    return this.#missing(this.#turn, this.#heldBackMs(this.#turn, nowMs) < this.targetMs)
  }

  /** The same for a moment still ahead; undefined while its frame has not come. */
  pullAhead(atMs: number): AudioStep | undefined {
    return this.#next(atMs, true)
  }

  #next(atMs: number, isAhead: boolean): AudioStep | undefined {
    if (this.#turn === undefined && !this.#begins(atMs)) return undefined
    this.#adjust(atMs, isAhead)
    const turn = this.#turn ?? 0
    const frame = this.#frames.get(turn)
    return frame === undefined ? undefined : this.#play(turn, frame)
  }

  #play(turn: number, frame: BufferedFrame): AudioStep {
    this.#frames.delete(turn)
    this.#turn = turn + 1
    this.#concealedInARow = 0
    this.#counters.played++
    return { type: 'frame', frame }
  }

  /** `isEarly`: others like it still come. */
  #missing(turn: number, isEarly: boolean): AudioStep {
    const timestampUs = turn * this.#frameMs * 1_000
    const next = isEarly ? undefined : this.#frames.get(turn + 1)
    if (next !== undefined) {
      this.#turn = turn + 1
      this.#concealedInARow = 0
      this.#counters.recovered++
      return { type: 'recover', next, timestampUs }
    }
    if (this.#concealedInARow === mediaLimits.maxConcealedFrames) {
      this.#turn = undefined
      this.#concealedInARow = 0
      return { type: 'silence' }
    }
    this.#concealedInARow++
    this.#counters.concealed++
    // With later ones there it does not come any more; with none it is waited for.
    if (this.#frames.size > 0 && !isEarly) this.#turn = turn + 1
    return { type: 'conceal', timestampUs }
  }

  #begins(nowMs: number): boolean {
    if (this.#frames.size === 0) return false
    const oldest = this.#oldest()
    if (this.#heldBackMs(oldest, nowMs) < this.targetMs) return false
    this.#turn = oldest
    return true
  }

  /** Leaves a frame out where they wait for too long. Where they wait for too short a time one is late soon, and is waited for. */
  #adjust(atMs: number, isAhead: boolean): void {
    const turn = this.#turn
    if (turn === undefined || atMs - this.#adjustedMs < adjustEveryMs) return
    const tooLongMs = this.#heldBackMs(turn, atMs) - this.targetMs
    const frame = this.#frames.get(turn)
    const isQuiet = frame === undefined || frame.level >= silentLevel
    if (tooLongMs < this.#frameMs * (isQuiet ? 1.5 : 5)) return
    // Ahead of its time the next one may still come.
    if (!this.#frames.has(turn + 1) && (frame === undefined || !isAhead)) return
    this.#adjustedMs = atMs
    if (frame !== undefined) this.#drop(turn)
    this.#turn = turn + 1
  }

  #heldBackMs(number: number, nowMs: number): number {
    return nowMs - number * this.#frameMs - this.#delay.baseMs
  }

  #drop(number: number): void {
    this.#frames.delete(number)
    this.#counters.skipped++
  }

  #oldest(): number {
    return Math.min(...this.#frames.keys())
  }

  #numberOf({ timestampUs }: BufferedFrame): number {
    return Math.round(timestampUs / 1_000 / this.#frameMs)
  }

  #beginAnew(): void {
    this.#delay.reset()
    this.#frames.clear()
    this.#turn = undefined
    this.#concealedInARow = 0
  }
}
