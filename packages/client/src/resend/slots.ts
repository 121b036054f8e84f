import { onAbort } from '../deadline.ts'

/** Lets so many run at once; the others wait in turn. */
export class Slots {
  readonly #max: number
  readonly #waiting: (() => void)[] = []
  #taken = 0

  constructor(max: number) {
    this.#max = max
  }

  get waiting(): number {
    return this.#waiting.length
  }

  get isIdle(): boolean {
    return this.#taken === 0
  }

  /** Resolves with what gives the slot back, or with undefined when the signal was aborted before there was one. */
  async take(signal: AbortSignal): Promise<(() => void) | undefined> {
    if (signal.aborted) return undefined
    if (this.#taken < this.#max) this.#taken++
    else if (!(await this.#turn(signal))) return undefined
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      const next = this.#waiting.shift()
      if (next === undefined) this.#taken--
      else next()
    }
  }

  /** False when it was called off. */
  #turn(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const go = () => {
        forget()
        resolve(true)
      }
      const forget = onAbort(signal, () => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1)
        resolve(false)
      })
      this.#waiting.push(go)
    })
  }
}
