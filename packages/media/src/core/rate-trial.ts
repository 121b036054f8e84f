/** How long a rendition is tried. */
const trialMs = 3_000
/** How long one pauses before it is tried; twice as long after each trial that failed. */
const pause = { firstMs: 2_000, mostMs: 30_000 } as const
/**
 * If nothing at all is published, the pause is no longer than this: links let other packets yield for two seconds after the last urgent message, and
 * then fill with them, so that each trial would begin behind seconds of other packets.
 */
const silentPauseMs = 1_000

/**
 * Which rate to plan with. A link's rate grows with what is sent on it, and what is not used says nothing about what there is: while a rendition
 * pauses, too little is sent to show that there is room for it. So it is tried: published for a moment as if there were. When the rate follows all
 * is well; when it does not, links drop that rendition, as it has the last priority, and it pauses for longer than before. This is no second
 * control loop: rates are measured at the links alone.
 */
export class RateTrial {
  #trial: { readonly bitsPerS: number; readonly untilMs: number } | undefined
  /** What is to be tried next. */
  #next: { readonly bitsPerS: number; readonly fromMs: number } | undefined
  #pauseMs: number = pause.firstMs

  /** When a rate has to be asked for though nothing has changed; Infinity when none has to be. */
  get dueMs(): number {
    return this.#trial?.untilMs ?? this.#next?.fromMs ?? Infinity
  }

  /** Tries so much now, in bits a second: what is published for the first time. */
  begin(bitsPerS: number, nowMs: number): void {
    this.#trial = { bitsPerS, untilMs: nowMs + trialMs }
    this.#next = undefined
  }

  /** The rate to plan with, where links say that they carry so much; in bits a second. */
  rate(toldBitsPerS: number, nowMs: number): number {
    if (this.#trial === undefined && this.#next !== undefined && nowMs >= this.#next.fromMs)
      this.begin(this.#next.bitsPerS, nowMs)
    if (this.#trial === undefined) return toldBitsPerS
    const { bitsPerS, untilMs } = this.#trial
    const isEnough = toldBitsPerS >= bitsPerS
    if (!isEnough && nowMs < untilMs) return bitsPerS
    this.#trial = undefined
    this.#pauseMs = isEnough ? pause.firstMs : Math.min(2 * this.#pauseMs, pause.mostMs)
    return toldBitsPerS
  }

  /**
   * What was planned with it leaves a rendition out, which needs so many bits a second in all; undefined: none. `isSilent`: there is nothing else,
   * and no sound.
   */
  planned(neededBitsPerS: number | undefined, isSilent: boolean, nowMs: number): void {
    if (this.#trial !== undefined) return
    const fromMs = this.#next?.fromMs ?? nowMs + (isSilent ? silentPauseMs : this.#pauseMs)
    this.#next = neededBitsPerS === undefined ? undefined : { bitsPerS: neededBitsPerS, fromMs }
  }
}
