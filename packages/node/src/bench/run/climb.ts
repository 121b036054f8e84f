import { isRunnelError } from '@runnel/protocol'
import { measuredText } from '../core/aims.ts'
import { Ramp, type RampOptions, type RampResult, type TriedLoad } from '../core/ramp.ts'
import { whatEnded } from '../core/what-ended.ts'
import { errorText } from '../load/measurements.ts'
import type { RunReport } from '../report/run-report.ts'
import type { BenchRequest } from './run-bench.ts'
import type { Bench } from './run-command.ts'

export interface ClimbWork {
  /** Throws USAGE for a load that the options do not allow. */
  requestFor(load: number): BenchRequest
  readonly run: Bench['run']
  onPhase(text: string): void
}

/** What a climb found. */
export interface Climbed {
  readonly result: RampResult
  readonly tried: readonly TriedLoad[]
  /** Of the largest load that was met, or else of the first that was tried. */
  readonly best: RunReport | undefined
  /** A load that the options do not allow, at which the climb ended, and why; for people. */
  readonly refused: string | undefined
  /** Why it was cut short. */
  readonly cut: { readonly error: unknown } | undefined
}

/** Errors of a run that say that it was too much, and not that it was wrong. */
const tooMuch = ['BENCH_TIMEOUT', 'BENCH_USERS_FAILED', 'BENCH_TOO_FEW_FILES'] as const

/** Looks for the largest load that meets the aims. What a first run throws that is not for its size, and that measured nothing, is thrown; else it cuts the climb short. */
export async function climb(options: RampOptions, work: ClimbWork): Promise<Climbed> {
  const ramp = new Ramp(options)
  const tried: TriedLoad[] = []
  let best: RunReport | undefined
  const climbed = () => ({ result: ramp.result, tried, best, refused: undefined, cut: undefined })
  for (let load = ramp.next(); load !== undefined; load = ramp.next()) {
    const request = allowed(work, load)
    // What was found takes minutes, and is not lost.
    if (typeof request === 'string') return { ...climbed(), refused: request }
    work.onPhase(`${load}`)
    const attempted = await attempt(work.run, request)
    if ('error' in attempted) {
      best ??= attempted.report
      if (best === undefined && tried.length === 0) throw attempted.error
      return { ...climbed(), result: cutResult(ramp.result), cut: attempted }
    }
    const { met, end, report, text } = attempted
    ramp.add({ load, met, end: met ? undefined : end })
    tried.push({ load, met, text, p99Ms: report?.delays?.p99Ms, lossPercent: report?.lossPercent })
    if (report !== undefined && (met || best === undefined)) best = report
    work.onPhase(`${load}: ${text}`)
  }
  return climbed()
}

/** Where no load had failed yet, nothing of the network ended it. */
function cutResult(result: RampResult): RampResult {
  return result.end === 'limit' ? { ...result, end: 'ended-early' } : result
}

/** The request, or why there is none. */
function allowed({ requestFor }: ClimbWork, load: number): BenchRequest | string {
  try {
    return requestFor(load)
  } catch (error) {
    if (!isRunnelError(error, 'USAGE')) throw error
    return `not tried: ${load}, which other options do not allow (${error.message})`
  }
}

interface Attempt {
  readonly met: boolean
  readonly end: RampResult['end']
  readonly report: RunReport | undefined
  readonly text: string
}

/** One that ended for another reason than its size. */
interface CutAttempt {
  readonly error: unknown
  readonly report: RunReport | undefined
}

/** A saturated generator makes delays longer and never shorter, so aims that were met all the same were met. */
async function attempt(run: Bench['run'], request: BenchRequest): Promise<Attempt | CutAttempt> {
  let report: RunReport | undefined
  try {
    const ran = await run(request)
    report = ran.report
    if (ran.cut !== undefined) throw ran.cut.error
    const missed = report.aims.filter(({ met }) => !met).map(measuredText)
    const serious = report.doubts.filter(({ kind }) => kind !== 'generator-saturated')
    const met = missed.length + serious.length === 0
    const texts = [...(met ? ['met'] : missed), ...report.doubts.map(({ text }) => text)]
    return { met, end: whatEnded(report), report, text: texts.join('; ') }
  } catch (error) {
    if (!tooMuch.some((code) => isRunnelError(error, code))) return { error, report }
    const end = isRunnelError(error, 'BENCH_TOO_FEW_FILES') ? 'generator' : 'network'
    return { met: false, end, report, text: errorText(error) }
  }
}
