import type { Cancel, Clock, RunnelError } from '@runnel/protocol'
import type { DescribedNetwork } from '../cli/network-source.ts'
import type { Logger } from '../logger.ts'
import { lookAtClock, type WrongClock } from './wrong-clock.ts'

interface ClockWatchModules {
  readonly network: DescribedNetwork
  readonly clock: Pick<Clock, 'schedule'>
  readonly logger: Pick<Logger, 'error' | 'info'>
}

interface ClockWatchOptions {
  /** Between two looks. */
  readonly clockLookMs: number
  /** The same while the clock is wrong. */
  readonly wrongClockLookMs: number
}

const nothing: Cancel = () => {}

/** Looks at this machine's clock from time to time: that of a machine that slept, or whose time service stopped, goes wrong while a node runs. */
export class ClockWatch {
  readonly #options: ClockWatchOptions
  readonly #modules: ClockWatchModules
  readonly #stopping = new AbortController()
  #wrong: WrongClock | undefined
  #cancel = nothing
  #isStarted = false

  constructor(options: ClockWatchOptions, modules: ClockWatchModules) {
    this.#options = options
    this.#modules = modules
  }

  /** CLOCK_WRONG where the clock is so wrong that others refuse what was published by it, as far as is known. */
  get problem(): RunnelError | undefined {
    return this.#wrong?.isAccepted === false ? this.#wrong.error : undefined
  }

  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    void this.#look()
  }

  stop(): void {
    this.#stopping.abort()
    this.#cancel()
  }

  async #look(): Promise<void> {
    const { signal } = this.#stopping
    const look = await lookAtClock(this.#modules.network, signal)
    if (signal.aborted) return
    // What was wrong still is where nobody says that it is not.
    if (look !== undefined) this.#found(look === 'right' ? undefined : look)
    const { clockLookMs, wrongClockLookMs } = this.#options
    const afterMs = this.#wrong === undefined ? clockLookMs : wrongClockLookMs
    this.#cancel = this.#modules.clock.schedule(afterMs, () => void this.#look())
  }

  #found(wrong: WrongClock | undefined): void {
    const { logger } = this.#modules
    const before = this.#wrong
    this.#wrong = wrong
    if (wrong === undefined) {
      if (before !== undefined) logger.info('the clock is right again')
    } else if (before?.isAccepted !== wrong.isAccepted) {
      const { offsetMs, error } = wrong
      const { code, message, remedy } = error
      logger.error({ code, offsetMs }, `${message}. ${remedy}`)
    }
  }
}
