import { isRunnelError, type Cancel, type Clock } from '@runnel/protocol'

/** What holds keys: the encryption of a stream. */
interface HeldStream {
  hold(): Promise<void>
  readonly opener: { readonly validForMs: number }
}

export interface KeyHoldingModules {
  /** The stream whose keys are held; another one after its metadata changed. */
  readonly stream: () => Promise<HeldStream>
  readonly clock: Clock
  readonly onProblem: (error: Error) => void
}

/** How soon a change of the stream itself is noticed, and failed work is tried again. */
const checkMs = 10_000

/** Has a valid key of a stream ready for its publishers, as long as this runs: when a reader's permission ends, or a key gets old, the next. */
export class KeyHolding {
  readonly #modules: KeyHoldingModules
  #cancel: Cancel = () => {}
  #isStopped = false
  #isFailing = false

  constructor(modules: KeyHoldingModules) {
    this.#modules = modules
  }

  /** Resolves when there is a key. Rejects, and goes on all the same, when there cannot be one now. */
  async start(): Promise<void> {
    const { stream, clock } = this.#modules
    let nextMs = checkMs
    try {
      const held = await stream()
      await held.hold()
      nextMs = Math.min(checkMs, held.opener.validForMs)
    } finally {
      if (!this.#isStopped) this.#cancel = clock.schedule(nextMs, () => void this.#again())
    }
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel()
  }

  async #again(): Promise<void> {
    try {
      await this.start()
      this.#isFailing = false
    } catch (error) {
      if (!isRunnelError(error)) throw error
      // Said once, until it works again.
      if (!this.#isFailing && !this.#isStopped) this.#modules.onProblem(error)
      this.#isFailing = true
    }
  }
}
