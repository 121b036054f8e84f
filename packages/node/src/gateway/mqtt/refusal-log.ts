import { TokenBucket, type Clock } from '@runnel/protocol'
import type { Logger } from '../../logger.ts'

/** Lines at once, and how often another one comes. */
const burst = 10
const perSecond = 1 / 10

/** Whose request was refused; nothing secret is among it. */
export interface RefusedClient {
  readonly address?: string
  readonly account?: string | undefined
  readonly clientId?: string | undefined
}

/**
 * Tells the operator what clients were refused and why, as MQTT 3.1.1 has no words for most of it. Clients try again and again, so lines
 * are bounded; how many were left out stands in the next.
 */
export class RefusalLog {
  readonly #logger: Pick<Logger, 'warn'>
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #lines: TokenBucket
  #leftOut = 0

  constructor(logger: Pick<Logger, 'warn'>, clock: Pick<Clock, 'monotonicMs'>) {
    this.#logger = logger
    this.#clock = clock
    this.#lines = new TokenBucket({ perSecond, burst }, clock.monotonicMs())
  }

  /** `what` it was that was refused, and why in a sentence without secrets. */
  add(what: string, why: string, client: RefusedClient): void {
    if (!this.#lines.take(this.#clock.monotonicMs())) {
      this.#leftOut++
      return
    }
    const leftOut = this.#leftOut === 0 ? {} : { leftOut: this.#leftOut }
    this.#leftOut = 0
    this.#logger.warn({ ...client, why, ...leftOut }, `${what} was refused`)
  }
}
