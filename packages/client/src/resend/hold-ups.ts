import type { ResendLimits } from './limits.ts'

/** How long sources have had others wait for them lately, and whether that is too long. */
export class HoldUps {
  readonly #limits: ResendLimits
  readonly #heldUpMs = new Map<number, number>()
  #takenSinceForgiven = 0

  constructor(limits: ResendLimits) {
    this.#limits = limits
  }

  of(source: number): number {
    return this.#heldUpMs.get(source) ?? 0
  }

  /** How long it may go on; one that is left alone need only bring something new in time. Not above 0: too long. */
  patienceMs(source: number, isAlone: boolean): number {
    const { maxHoldUpMs, idleTimeoutMs } = this.#limits
    return (isAlone ? idleTimeoutMs : maxHoldUpMs) - this.of(source)
  }

  add(source: number, ms: number): void {
    this.#heldUpMs.set(source, this.of(source) + ms)
  }

  /** It brought something new. */
  forgive(source: number): void {
    this.#heldUpMs.delete(source)
  }

  /** A message of any source was taken: after many, all counts restart. */
  countTaken(): void {
    if (++this.#takenSinceForgiven < this.#limits.holdUpMessages) return
    this.#takenSinceForgiven = 0
    this.#heldUpMs.clear()
  }
}
