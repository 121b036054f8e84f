import type { Cancel, Clock } from '@runnel/protocol'

/** The clock of a process that can be stopped: time goes on meanwhile, and timers that fall due wait for its return. */
export class FreezableClock implements Clock {
  readonly #clock: Clock
  #waiting: (() => void)[] | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  freeze(): void {
    this.#waiting ??= []
  }

  thaw(): void {
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    for (const fn of waiting) fn()
  }

  now(): number {
    return this.#clock.now()
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs()
  }

  schedule(delayMs: number, fn: () => void): Cancel {
    let isCancelled = false
    const cancel = this.#clock.schedule(delayMs, () => {
      this.#whenRunning(() => {
        if (!isCancelled) fn()
      })
    })
    return () => {
      isCancelled = true
      cancel()
    }
  }

  endOfTurn(fn: () => void): void {
    this.#clock.endOfTurn(() => this.#whenRunning(fn))
  }

  #whenRunning(fn: () => void): void {
    if (this.#waiting === undefined) fn()
    else this.#waiting.push(fn)
  }
}
