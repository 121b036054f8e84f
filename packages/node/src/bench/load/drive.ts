import { setTimeout as pause } from 'node:timers/promises'
import { untilAborted } from '@runnel/protocol'
import { nodeError } from '../../errors.ts'
import { lastWordMs, workBoundMs } from '../core/budget.ts'
import type { LoadPlan } from '../core/plan.ts'
import type { UserPlace } from '../users/user.ts'
import type { Generator } from './generator.ts'
import { measure, type Measured, type MeasureOptions } from './measure.ts'
import { timeLimit } from './time-limit.ts'

/** How often to check whether the overlays have settled. */
const lookEveryMs = 100

export interface DriveOptions extends MeasureOptions {
  readonly place: UserPlace
  /** What has to be there before the first user is; for people its name. */
  readonly prepare?:
    | { readonly name: string; readonly work: (plan: LoadPlan, signal: AbortSignal) => Promise<void> }
    | undefined
  /** What is done now, for people. */
  onPhase(text: string): void
  /** Users that did not close, for people: their generator left them. */
  onUnclosed(texts: readonly string[]): void
}

/** What a run brought, before anything is made of it. */
export interface Driven extends Measured {
  /** From the first user to settled overlays. */
  readonly settledInMs: number
  /** What the overlays lacked when it began to send; empty where they had settled. */
  readonly unsettled: readonly string[]
}

/**
 * Runs a load: opens the users, waits for their overlays, sends, and waits for what is on its way. Ends within `runBoundMs`, of which closing the users has its part: with
 * BENCH_TIMEOUT and what was still missing, or INTERRUPTED. These and others are thrown before it sends, and from then on are why what it measured was cut. The users are
 * closed in any case.
 */
export async function drive(options: DriveOptions): Promise<Driven> {
  const { generators, plan, times } = options
  const limit = timeLimit(workBoundMs(plan, times))
  const signal = AbortSignal.any([options.signal, limit.signal])
  let phase = ''
  const enter = (text: string) => {
    phase = text
    options.onPhase(text)
  }
  const reasonOf = async (cause: unknown, missing: () => Promise<readonly string[]>): Promise<unknown> => {
    if (options.signal.aborted) return nodeError('INTERRUPTED', undefined, { cause })
    if (!limit.signal.aborted) return cause
    const texts = [`while ${phase}`, ...(await missing()), ...options.target.died()]
    return nodeError('BENCH_TIMEOUT', texts.join('; '), { cause })
  }
  try {
    const driven = await steps({ ...options, signal }, enter)
    const { cut } = driven
    if (cut === undefined) return driven
    const silent = () => Promise.resolve(cut.silent.map((name) => `${name} does not answer`))
    return { ...driven, cut: { ...cut, error: await reasonOf(cut.error, silent) } }
  } catch (error) {
    throw await reasonOf(error, () => lackingAtLast(generators))
  } finally {
    limit.end()
    const unclosed = await Promise.all(
      generators.map(async (one) => (await one.stop()).map((text) => `${one.name}: ${text}`)),
    )
    if (unclosed.flat().length > 0) options.onUnclosed(unclosed.flat())
  }
}

async function steps(options: DriveOptions, enter: (text: string) => void): Promise<Driven> {
  const { generators, plan, place, target, signal, prepare } = options
  if (prepare !== undefined) {
    enter(prepare.name)
    await untilAborted(prepare.work(plan, signal), signal)
  }
  enter(`${plan.clients} users join`)
  const fromMs = performance.now()
  target.costs()
  const of = generators.length
  await Promise.all(generators.map((generator, index) => generator.open(plan, place, { index, of }, signal)))
  enter('the overlays settle')
  const unsettled = await settle(options)
  const settledInMs = performance.now() - fromMs
  return { ...(await measure(options, enter)), settledInMs, unsettled }
}

/** Of users of generators that still answer, and the names of the others. */
async function lackingAtLast(generators: readonly Generator[]): Promise<readonly string[]> {
  const last = timeLimit(lastWordMs)
  const words = await Promise.all(
    generators.map((one) => missingOf([one], last.signal).catch(() => [`${one.name} does not answer`])),
  )
  last.end()
  return words.flat()
}

/**
 * Waits until the overlays have settled, and, where urgent messages will be sent, readers have heard of all publishers. Returns what was missing
 * when time was up.
 */
async function settle(options: DriveOptions): Promise<readonly string[]> {
  const { generators, plan, times, signal } = options
  const untilMs = performance.now() + times.settleMs
  const missing = await untilNothingMissing(options, untilMs)
  if (!plan.subscribes || !plan.flows.some(({ urgent }) => urgent)) return missing
  await untilAborted(Promise.all(generators.map((generator) => generator.introduce())), signal)
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
