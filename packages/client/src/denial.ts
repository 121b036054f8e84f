import { isRunnelError, type Clock, type RunnelError } from '@runnel/protocol'
import { pause } from './deadline.ts'

/** How often it is looked at, by what is known of the registry. */
const lookMs = 5_000
/** For how long a user may not read before that is final: a chain that reverted the block of a grant has mostly included it again by then. */
export const finalAfterMs = 20_000

/** What may be final. A delegation that ended may be renewed, and has statuses of its own. */
const finalCodes = ['NO_SUBSCRIBE_PERMISSION', 'STREAM_NOT_FOUND']

export interface DenialModules {
  readonly clock: Pick<Clock, 'schedule' | 'monotonicMs'>
  /** Rejects with the reason why the user may not read, or with that for which nobody knows. */
  readonly check: () => Promise<unknown>
  readonly onFinal: (reason: RunnelError) => void
  /** Ends it. */
  readonly signal: AbortSignal
}

/** Whether a user who may not read a stream any more has lost that right for good. */
export class Denial {
  readonly #modules: DenialModules
  #isSuspected = false
  #isLooking = false

  constructor(modules: DenialModules) {
    this.#modules = modules
  }

  /** As far as is known the user may not read. */
  suspect(): void {
    this.#isSuspected = true
    if (!this.#isLooking) void this.#look()
  }

  async #look(): Promise<void> {
    this.#isLooking = true
    // It may be told while the answer that the user may read is on its way.
    while (this.#isSuspected) {
      this.#isSuspected = false
      const reason = await this.#finalReason()
      if (reason !== undefined) return this.#modules.onFinal(reason)
    }
    this.#isLooking = false
  }

  /** undefined as soon as the user may read, or the signal aborts. While the registry does not answer it waits. */
  async #finalReason(): Promise<RunnelError | undefined> {
    const { clock, check, signal } = this.#modules
    const sinceMs = clock.monotonicMs()
    while (!signal.aborted) {
      const reason = await check().then(
        () => undefined,
        (error: unknown) => error,
      )
      if (reason === undefined || signal.aborted) return undefined
      const isKnown = isRunnelError(reason) && finalCodes.includes(reason.code)
      if (isKnown && clock.monotonicMs() - sinceMs >= finalAfterMs) return reason
      await pause(clock, lookMs, signal)
    }
    return undefined
  }
}
