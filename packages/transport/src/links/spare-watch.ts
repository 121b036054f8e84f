import type { Clock } from '@runnel/protocol'
import type { Connection } from '../ports.ts'

interface SpareWatchModules {
  readonly spare: Pick<Connection, 'queuedBytes' | 'answeredMs' | 'stats'>
  readonly clock: Pick<Clock, 'monotonicMs'>
}

/**
 * Tells whether something is still under way on a connection that another one has replaced, on which neither side sends anything new. What this side
 * had queued is with the peer once a ping is answered that followed it: below the queue there are those of the system and of the network. What the
 * peer had queued is here once its pings and pongs come, and nothing else.
 */
export class SpareWatch {
  readonly #modules: SpareWatchModules
  readonly #endMs: number
  /** Since when the queue has been empty. */
  #emptyMs: number | undefined
  #dataIn: number
  #framesIn: number

  /** @param maxMs from now; after that it passes for quiet */
  constructor({ maxMs }: { readonly maxMs: number }, modules: SpareWatchModules) {
    this.#modules = modules
    this.#endMs = modules.clock.monotonicMs() + maxMs
    this.#dataIn = modules.spare.stats.dataIn
    this.#framesIn = modules.spare.stats.framesIn
    this.#lookAtQueue()
  }

  /** Whether it can be closed without loss, as far as can be told. What came in is compared with the call before. */
  isQuiet(): boolean {
    const hasLeft = this.#lookAtQueue()
    const hasCome = this.#lookAtArrivals()
    return (hasLeft && hasCome) || this.#modules.clock.monotonicMs() >= this.#endMs
  }

  #lookAtQueue(): boolean {
    const { spare, clock } = this.#modules
    if (spare.queuedBytes > 0) this.#emptyMs = undefined
    else this.#emptyMs ??= clock.monotonicMs()
    return this.#emptyMs !== undefined && (spare.answeredMs ?? -Infinity) > this.#emptyMs
  }

  /** Without a frame since the last look, the peer may be in the middle of a long one. */
  #lookAtArrivals(): boolean {
    const { dataIn, framesIn } = this.#modules.spare.stats
    const hasCome = dataIn === this.#dataIn && framesIn > this.#framesIn
    this.#dataIn = dataIn
    this.#framesIn = framesIn
    return hasCome
  }
}
