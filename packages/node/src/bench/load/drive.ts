import { setTimeout as pause } from 'node:timers/promises'
import { untilAborted } from '@runnel/protocol'
import { nodeError } from '../../errors.ts'
import { workBoundMs, type RunTimes } from '../core/budget.ts'
import type { LoadPlan } from '../core/plan.ts'
import type { Target } from '../network/target.ts'
import type { UserPlace } from '../users/user.ts'
import { expectedOf } from './expected.ts'
import type { Generator, LoadResult } from './generator.ts'
import { mergeSamples, type SecondFigures } from './seconds.ts'
import { preciseNow } from './metronome.ts'

/** How often to check whether the overlays have settled, and whether everything has come. */
const lookEveryMs = 100
/** How often figures are shown. */
const sampleEveryMs = 1_000
/** How long a worker may take to begin after it was told. */
const leadMs = 200
/** How long generators may take to say what was missing when the time was up. */
const lastWordMs = 2_000

export interface DriveOptions {
  readonly generators: readonly Generator[]
  readonly plan: LoadPlan
  readonly place: UserPlace
  readonly target: Target
  readonly times: RunTimes
  readonly signal: AbortSignal
  /** What has to be there before the first user is; for people its name. */
  readonly prepare?:
    | { readonly name: string; readonly work: (plan: LoadPlan, signal: AbortSignal) => Promise<void> }
    | undefined
  /** What is done now, for people. */
  onPhase(text: string): void
  onSecond(second: SecondFigures): void
}

/** What a run brought, before anything is made of it. */
export interface Driven {
  readonly results: readonly LoadResult[]
  /** From the first user to settled overlays. */
  readonly settledInMs: number
  readonly seconds: readonly SecondFigures[]
  readonly processes: ReturnType<Target['costs']>
  /** What the overlays lacked when it began to send; empty where they had settled. */
  readonly unsettled: readonly string[]
}

/**
 * Runs a load: opens the users, waits for their overlays, sends, and waits for what is on its way. Ends within `runBoundMs`, of which closing the users has its part: throws BENCH_TIMEOUT with
 * what was still missing, or INTERRUPTED. The users are closed in any case.
 */
export async function drive(options: DriveOptions): Promise<Driven> {
  const { generators, plan, times } = options
  const limit = AbortSignal.timeout(workBoundMs(plan, times))
  const signal = AbortSignal.any([options.signal, limit])
  let phase = ''
  const enter = (text: string) => {
    phase = text
    options.onPhase(text)
  }
  try {
    return await steps({ ...options, signal }, enter)
  } catch (error) {
    if (options.signal.aborted) throw nodeError('INTERRUPTED', undefined, { cause: error })
    if (!limit.aborted) throw error
    const last = AbortSignal.timeout(lastWordMs)
    const words = generators.map((one) => missingOf([one], last).catch(() => []))
    const missing = (await Promise.all(words)).flat()
    throw nodeError('BENCH_TIMEOUT', [`while ${phase}`, ...missing].join('; '), { cause: error })
  } finally {
    await Promise.all(generators.map((generator) => generator.stop()))
  }
}

async function steps(options: DriveOptions, enter: (text: string) => void): Promise<Driven> {
  const { generators, plan, place, target, times, signal, prepare } = options
  if (prepare !== undefined) {
    enter(prepare.name)
    await prepare.work(plan, signal)
  }
  enter(`${plan.clients} users join`)
  const fromMs = performance.now()
  target.costs()
  const of = generators.length
  await Promise.all(generators.map((generator, index) => generator.open(plan, place, { index, of }, signal)))
  enter('the overlays settle')
  const unsettled = await settle(options)
  const settledInMs = performance.now() - fromMs
  const seconds = times.durationMs > 0 ? await send(options, enter) : []
  const processes = target.costs()
  enter('the last messages arrive')
  return { results: await drain(options), settledInMs, seconds, processes, unsettled }
}

async function send(options: DriveOptions, enter: (text: string) => void): Promise<readonly SecondFigures[]> {
  const { generators, target, times, signal } = options
  enter('sending')
  target.costs()
  const startMs = preciseNow() + leadMs
  const measureFromMs = startMs + times.warmupMs
  const window = { startMs, measureFromMs, endMs: measureFromMs + times.durationMs }
  const seconds: SecondFigures[] = []
  let beforeMs = startMs
  const look = async () => {
    const samples = await Promise.all(generators.map((generator) => generator.sample()))
    const nowMs = preciseNow()
    const second = mergeSamples(samples, (nowMs - startMs) / 1000, (nowMs - beforeMs) / 1000)
    beforeMs = nowMs
    seconds.push(second)
    options.onSecond(second)
  }
  const ended = new AbortController()
  const watching = watch(look, ended.signal)
  // It is awaited when the run is over.
  watching.catch(() => {})
  try {
    await Promise.all(generators.map((generator) => generator.run(window, signal)))
  } finally {
    ended.abort()
    await watching
  }
  return seconds
}

/**
 * Waits until the overlays have settled, and, where urgent messages will be sent, readers have heard of all publishers. Returns what was missing
 * when time was up.
 */
async function settle(options: DriveOptions): Promise<readonly string[]> {
  const { generators, plan, times } = options
  const untilMs = performance.now() + times.settleMs
  const missing = await untilNothingMissing(options, untilMs)
  if (!plan.subscribes || !plan.flows.some(({ urgent }) => urgent)) return missing
  await Promise.all(generators.map((generator) => generator.introduce()))
  return untilNothingMissing(options, untilMs)
}

async function untilNothingMissing(
  { generators, signal }: DriveOptions,
  untilMs: number,
): Promise<readonly string[]> {
  for (;;) {
    const missing = await missingOf(generators, signal)
    if (missing.length === 0 || performance.now() >= untilMs) return missing
    await pause(lookEveryMs, undefined, { signal })
  }
}

/** What users lack. A generator whose users hang may never say: throws the signal's reason. */
async function missingOf(generators: readonly Generator[], signal: AbortSignal): Promise<readonly string[]> {
  const missing = await untilAborted(Promise.all(generators.map((one) => one.missing())), signal)
  return missing.flat()
}

async function watch(look: () => Promise<void>, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    await pause(sampleEveryMs, undefined, { signal: ended }).catch(() => {})
    if (!ended.aborted) await look()
  }
}

/** Waits until all has been published and has come, or nothing more does. */
async function drain({ generators, plan, times, signal }: DriveOptions): Promise<readonly LoadResult[]> {
  const untilMs = performance.now() + times.drainMs
  for (;;) {
    const results = await Promise.all(generators.map((generator) => generator.result()))
    const received = results.reduce((sum, result) => sum + result.received, 0)
    const isAllThere = results.every(({ pending }) => pending === 0) && received >= expectedOf(plan, results)
    if (isAllThere || performance.now() >= untilMs) return results
    await pause(lookEveryMs, undefined, { signal })
  }
}
