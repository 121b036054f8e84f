import type { Clock } from '@runnel/protocol'

/** The phases that a client reaches before its first message, in the usual order. */
export type PhaseName = 'registry' | 'tracker' | 'neighbour' | 'message'

/** When each phase was first reached, in milliseconds from the start of the client; undefined until then. */
export type PhaseTimes = Readonly<Partial<Record<PhaseName, number>>>

/** How a client comes to its first message: the registry was read, a tracker and a neighbour connected, a message delivered. */
export class Phases {
  /** Called when a phase is reached, which it is once. */
  onReached: (phase: PhaseName, afterMs: number) => void = () => {}
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #startedMs: number
  readonly #times: Partial<Record<PhaseName, number>> = {}

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
    this.#startedMs = clock.monotonicMs()
  }

  get times(): PhaseTimes {
    return { ...this.#times }
  }

  reach(phase: PhaseName): void {
    if (this.#times[phase] !== undefined) return
    const afterMs = this.#clock.monotonicMs() - this.#startedMs
    this.#times[phase] = afterMs
    this.onReached(phase, afterMs)
  }
}
