import { Alarm, type Clock } from '@runnel/protocol'
import type { PresenceLimits } from './limits.ts'

export interface OwnPresenceModules {
  readonly clock: Clock
  /** Floods that this client is there, with what it says of itself; or, without that, that it is not. */
  readonly say: (wanted: Wanted | undefined) => void
}

/** What this client says of itself, as JSON. */
export interface Wanted {
  readonly data: string | undefined
}

/** Says that this client is there, while it wants to be seen: at once, and then never more often than once per interval. */
export class OwnPresence {
  readonly #limits: Pick<PresenceLimits, 'presenceIntervalMs'>
  readonly #modules: OwnPresenceModules
  readonly #alarm: Alarm
  #wanted: Wanted | undefined
  /** What others know. */
  #said: Wanted | undefined
  #saidMs = -Infinity
  #waiting: (() => void)[] = []
  #holder: object | undefined

  constructor(limits: Pick<PresenceLimits, 'presenceIntervalMs'>, modules: OwnPresenceModules) {
    this.#limits = limits
    this.#modules = modules
    this.#alarm = new Alarm({ onDue: () => this.#look() }, modules)
  }

  /** Whether it is for `holder` to say what is wanted: nobody else does at the moment. */
  claim(holder: object): boolean {
    this.#holder ??= holder
    return this.#holder === holder
  }

  /** Changes what is said, or that anything is. Resolves when it is said: at once, or when it is time again. */
  want(wanted: Wanted | undefined): Promise<void> {
    this.#wanted = wanted
    if (wanted === undefined) this.#holder = undefined
    if (wanted === undefined && this.#said === undefined) {
      this.#told()
      this.#alarm.set(Infinity)
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#look()
    })
  }

  /** Says goodbye at once where others think that this client is there. Idempotent. */
  close(): void {
    this.#alarm.set(Infinity)
    this.#wanted = undefined
    this.#holder = undefined
    if (this.#said !== undefined) this.#say()
    this.#told()
  }

  #look(): void {
    if (this.#wanted === undefined && this.#said === undefined) return
    const dueMs = this.#saidMs + this.#limits.presenceIntervalMs
    if (this.#modules.clock.monotonicMs() < dueMs) this.#alarm.set(dueMs)
    else this.#say()
  }

  #say(): void {
    this.#saidMs = this.#modules.clock.monotonicMs()
    this.#said = this.#wanted
    this.#modules.say(this.#wanted)
    this.#told()
    this.#look()
  }

  #told(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
