import { setTimeout as pause } from 'node:timers/promises'
import { untilAborted } from '@runnel/protocol'
import { lastWordMs, type RunTimes } from '../core/budget.ts'
import type { LoadPlan } from '../core/plan.ts'
import type { Target } from '../network/target.ts'
import { expectedOf } from './expected.ts'
import type { Generator, LoadResult, LoadSample } from './generator.ts'
import { preciseNow } from './metronome.ts'
import type { SecondFigures } from './seconds.ts'
import { timeLimit } from './time-limit.ts'
import { Watch } from './watch.ts'

/** How often to check whether everything has come. */
const lookEveryMs = 100
/** How long a worker may take to begin after it was told. */
const leadMs = 200

export interface MeasureOptions {
  readonly generators: readonly Generator[]
  readonly plan: LoadPlan
  readonly target: Target
  readonly times: RunTimes
  readonly signal: AbortSignal
  onSecond(second: SecondFigures): void
}

/** What a run measured, to its end or until it was cut short. */
export interface Measured {
  readonly results: readonly LoadResult[]
  /** Until all had arrived: they add up to the results. */
  readonly seconds: readonly SecondFigures[]
  readonly processes: ReturnType<Target['costs']>
  readonly cut: Cut | undefined
}

/** Why a run ended before its time. */
export interface Cut {
  readonly error: unknown
  /** Generators that no longer answered, whose figures are missing. */
  readonly silent: readonly string[]
}

/** Sends, and waits for what is on its way. Throws what went wrong only where no generator has figures. */
export async function measure(options: MeasureOptions, enter: (text: string) => void): Promise<Measured> {
  const { generators, target, times, signal } = options
  const startMs = preciseNow() + leadMs
  const watch = times.durationMs > 0 ? new Watch({ ...options, startMs }) : undefined
  const failure = new AbortController()
  const going = { ...options, signal: AbortSignal.any([signal, failure.signal]) }
  let processes: Measured['processes'] = []
  const work = async () => {
    if (watch !== undefined) await send(going, startMs, enter)
    going.signal.throwIfAborted()
    processes = target.costs()
    enter('the last messages arrive')
    await drain(going)
  }
  const ended = await (watch?.during(work()) ?? work()).then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
  // Nothing goes on where a look has failed.
  if (ended !== undefined) failure.abort(ended.error)
  const last = timeLimit(lastWordMs)
  const limit = ended === undefined ? signal : last.signal
  const words = await Promise.allSettled(generators.map((one) => lastWordOf(one, watch !== undefined, limit)))
  last.end()
  const known = words.flatMap((word) => (word.status === 'fulfilled' ? [word.value] : []))
  const [failed] = words.flatMap((word) => (word.status === 'rejected' ? [{ error: word.reason }] : []))
  const cause = ended ?? failed
  if (cause !== undefined && known.length === 0) throw cause.error
  watch?.end(known.flatMap(({ sample }) => sample ?? []))
  const silent = generators.filter((_, i) => words[i]?.status === 'rejected').map(({ name }) => name)
  return {
    ...{ results: known.map(({ result }) => result), seconds: watch?.seconds ?? [], processes },
    cut: cause && { ...cause, silent },
  }
}

async function send(
  { generators, target, times, signal }: MeasureOptions,
  startMs: number,
  enter: (text: string) => void,
): Promise<void> {
  enter('sending')
  target.costs()
  const measureFromMs = startMs + times.warmupMs
  const window = { startMs, measureFromMs, endMs: measureFromMs + times.durationMs }
  await Promise.all(generators.map((generator) => generator.run(window, signal)))
}

/** Waits until all has been published and has come, or nothing more does. */
async function drain({ generators, plan, times, signal }: MeasureOptions): Promise<void> {
  const untilMs = performance.now() + times.drainMs
  for (;;) {
    const results = await untilAborted(Promise.all(generators.map((one) => one.result())), signal)
    const received = results.reduce((sum, result) => sum + result.received, 0)
    const isAllThere = results.every(({ pending }) => pending === 0) && received >= expectedOf(plan, results)
    if (isAllThere || performance.now() >= untilMs) return
    await pause(lookEveryMs, undefined, { signal })
  }
}

interface LastWord {
  readonly result: LoadResult
  readonly sample: LoadSample | undefined
}

/** Both at once, as what came in between would be in one alone. Throws the signal's reason. */
async function lastWordOf(one: Generator, isSampled: boolean, signal: AbortSignal): Promise<LastWord> {
  const both = Promise.all([isSampled ? one.sample() : undefined, one.result()])
  const [sample, result] = await untilAborted(both, signal)
  return { sample, result }
}
