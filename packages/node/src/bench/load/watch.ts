import { setTimeout as pause } from 'node:timers/promises'
import { untilAborted } from '@runnel/protocol'
import type { Generator, LoadSample } from './generator.ts'
import { preciseNow } from './metronome.ts'
import { mergeSamples, type SecondFigures } from './seconds.ts'

/** How often figures are shown. */
const everyMs = 1_000
/** A look that is sooner after another has no figures of its own. */
const momentMs = 250

interface WatchOptions {
  readonly generators: readonly Generator[]
  /** When they begin to send. */
  readonly startMs: number
  readonly signal: AbortSignal
  /** Default: the clock of this process. */
  readonly nowMs?: () => number
  onSecond(second: SecondFigures): void
}

/** Follows a run second by second. Samples are of the time since the one before: all together they hold all there was. */
export class Watch {
  readonly seconds: SecondFigures[] = []
  readonly #options: WatchOptions
  readonly #nowMs: () => number
  #beforeMs: number
  /** Of the last second. */
  #samples: readonly LoadSample[] = []
  /** Of a look that has not ended, or has failed: what a generator said is not said again. */
  readonly #unused: LoadSample[] = []

  constructor(options: WatchOptions) {
    this.#options = options
    this.#nowMs = options.nowMs ?? preciseNow
    this.#beforeMs = options.startMs
  }

  /** Looks each second until the work is done. Throws what the work throws, or a look, such as the signal's reason: whichever is first. */
  async during(work: Promise<void>): Promise<void> {
    const ended = new AbortController()
    await Promise.all([work.finally(() => ended.abort()), this.#tick(ended.signal)])
  }

  /** What came since the last look. So shortly after it that it says little by itself, it belongs to the second before. */
  end(samples: readonly LoadSample[]): void {
    const rest = [...this.#unused, ...samples]
    const last = this.seconds.at(-1)
    if (last === undefined || this.#nowMs() - this.#beforeMs >= momentMs) return this.#add(rest)
    const all = mergeSamples([...this.#samples, ...rest], last.atS, 1)
    this.seconds.splice(-1, 1, { ...all, cpuShare: last.cpuShare })
  }

  #add(samples: readonly LoadSample[]): void {
    const { startMs, onSecond } = this.#options
    const nowMs = this.#nowMs()
    const second = mergeSamples(samples, Math.max(0, nowMs - startMs) / 1000, (nowMs - this.#beforeMs) / 1000)
    this.#beforeMs = nowMs
    this.#samples = samples
    this.seconds.push(second)
    onSecond(second)
  }

  /** By the clock, however long a look takes. */
  async #tick(ended: AbortSignal): Promise<void> {
    const { generators, startMs, signal } = this.#options
    for (let second = 1; !ended.aborted; second = secondAfter(second, this.#nowMs() - startMs)) {
      const waitMs = Math.max(0, startMs + second * everyMs - this.#nowMs())
      await pause(waitMs, undefined, { signal: ended }).catch(() => {})
      if (ended.aborted) return
      const looks = generators.map(async (one) => void this.#unused.push(await one.sample()))
      await untilAborted(Promise.all(looks), signal)
      this.#add(this.#unused.splice(0))
    }
  }
}

/** The next to look at after one, so much after the start: those that have passed meanwhile are left out. */
export function secondAfter(second: number, elapsedMs: number): number {
  return Math.max(second, Math.floor(elapsedMs / everyMs)) + 1
}
