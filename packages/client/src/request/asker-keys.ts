import type { Clock } from '@runnel/protocol'
import { requestLimits } from './limits.ts'
import type { ReplyKeys } from './reply-suite.ts'

interface Current {
  readonly keys: Promise<ReplyKeys>
  readonly madeMs: number
  requests: number
}

/**
 * The keys of an asker: the same for some requests, so that it agrees with each responder once and not each time; new ones after a while,
 * so that who gets them reads the replies of that while only.
 */
export class AskerKeys {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #make: () => Promise<ReplyKeys>
  #current: Current | undefined

  constructor(modules: {
    readonly clock: Pick<Clock, 'monotonicMs'>
    readonly make: () => Promise<ReplyKeys>
  }) {
    this.#clock = modules.clock
    this.#make = modules.make
  }

  /** For one request. */
  next(): Promise<ReplyKeys> {
    const current = this.#usable() ?? (this.#current = this.#new())
    current.requests++
    return current.keys
  }

  #usable(): Current | undefined {
    const current = this.#current
    if (current === undefined || current.requests >= requestLimits.maxRequestsOfKeys) return undefined
    return this.#clock.monotonicMs() - current.madeMs < requestLimits.keysLifeMs ? current : undefined
  }

  #new(): Current {
    const current = { keys: this.#make(), madeMs: this.#clock.monotonicMs(), requests: 0 }
    current.keys.catch(() => {
      if (this.#current === current) this.#current = undefined
    })
    return current
  }
}
