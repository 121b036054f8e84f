import { mediaLimits } from '../limits.ts'
import { DelayEstimate } from './delay-estimate.ts'

/** Sound heard this long ago says nothing about now: the member is muted. */
const audioAgeMs = 1_000
/** How far pictures may precede their sound: nobody notices below 125 ms (ITU-R BT.1359-1). */
const soundLateMs = 60

/**
 * When the pictures of a member are painted. They are held back by what their own delay varies. Sound is the master: a picture waits until it is
 * at most `soundLateMs` before the sound of its time, and no longer than until that is played.
 */
export class LipSync {
  readonly #delay = new DelayEstimate()
  #heard: { readonly timestampUs: number; readonly atMs: number } | undefined

  /** Sound of this time is heard at that moment, which may be a little ahead. */
  heard(timestampUs: number, atMs: number): void {
    this.#heard = { timestampUs, atMs }
  }

  /** A picture came. */
  arrived(timestampUs: number, nowMs: number): void {
    this.#delay.add(timestampUs / 1_000, nowMs)
  }

  get jitterMs(): number {
    return this.#delay.jitterMs
  }

  /** When to paint the picture of this time, which is ready since `readyMs`: it waits for `maxLipSyncWaitMs` at most. */
  dueMs(timestampUs: number, readyMs: number, nowMs: number): number {
    return Math.min(this.#wantedMs(timestampUs, nowMs), readyMs + mediaLimits.maxLipSyncWaitMs)
  }

  #wantedMs(timestampUs: number, nowMs: number): number {
    const ownMs = this.#delay.isEmpty
      ? nowMs
      : timestampUs / 1_000 + this.#delay.baseMs + this.#delay.spreadMs
    const heard = this.#heard
    if (heard === undefined || nowMs - heard.atMs >= audioAgeMs) return ownMs
    const soundMs = heard.atMs + (timestampUs - heard.timestampUs) / 1_000
    return Math.min(soundMs, Math.max(ownMs, soundMs - soundLateMs))
  }
}
