import { isRunnelError } from '@runnel/protocol'
import { parseAims } from '../core/aims.ts'
import { Ramp, type RampKind, type RampResult } from '../core/ramp.ts'
import { whatEnded } from '../core/what-ended.ts'
import type { RunReport } from '../report/run-report.ts'
import { errorText } from '../load/measurements.ts'
import { nodeError } from '../../errors.ts'
import { requestOf } from './request.ts'
import { withBench, type Bench, type RunArguments } from './run-command.ts'
import { boundOf } from './run-bench.ts'

export interface FindArguments {
  readonly ramp: RampKind
  readonly most: number
  readonly steps: number
  readonly room: number | undefined
}

/** What a network should do where nothing else is said. */
const defaultAim = 'p99<100ms,loss=0'
/** Errors of a run that say that it was too much, and not that it was wrong. */
const tooMuch = ['BENCH_TIMEOUT', 'BENCH_USERS_FAILED', 'BENCH_TOO_FEW_FILES'] as const

/**
 * Looks for the largest load that meets the aims, and says what ended it. Throws USAGE, BENCH_AIM_MISSED where the first load fails already, and
 * what a run throws that is not for its size.
 */
export async function findCommand(args: RunArguments, find: FindArguments): Promise<void> {
  if (!(find.most >= 1) || !(find.steps >= 1 && find.steps <= 50))
    throw nodeError('USAGE', '--most takes a number from 1 on, --steps one from 1 to 50')
  const requestFor = (load: number) => {
    const loaded = find.ramp === 'clients' ? { ...args, clients: Math.round(load) } : { ...args, rate: load }
    const shape = { title: 'find', subscribes: true, publishes: true }
    const request = requestOf(loaded, find.room === undefined ? shape : { ...shape, room: find.room })
    return { ...request, aims: parseAims(args.aim ?? defaultAim) }
  }
  const from = find.ramp === 'clients' ? args.clients : (args.rate ?? 1)
  if (find.most < from) throw nodeError('USAGE', `--most ${find.most}: less than the ${from} it begins with`)
  // What is wrong with the first is said before anything starts.
  requestFor(from)
  const largest = requestFor(find.most)
  const needs = { parts: largest.parts, storage: false, boundMs: boundOf(largest) * find.steps }
  await withBench(args, needs, async (bench) => {
    const ramp = new Ramp({ from, most: find.most, maxSteps: find.steps })
    let best: RunReport | undefined
    for (let load = ramp.next(); load !== undefined; load = ramp.next()) {
      bench.outputs.phase(`${find.ramp}: ${load}`)
      const tried = await attempt(bench, requestFor(load))
      ramp.add({ load, met: tried.met, end: tried.met ? undefined : tried.end })
      if (tried.report !== undefined && (tried.met || best === undefined)) best = tried.report
      bench.outputs.phase(`${find.ramp} ${load}: ${tried.text}`)
    }
    const { result } = ramp
    if (best !== undefined)
      bench.outputs.report(best, [resultText(find, result)], { found: { ...result, ramp: find.ramp } })
    if (result.load === 0) throw nodeError('BENCH_AIM_MISSED', `already at ${from} ${find.ramp}`)
  })
}

interface Attempt {
  readonly met: boolean
  readonly end: RampResult['end']
  readonly report: RunReport | undefined
  readonly text: string
}

/** A saturated generator makes delays longer and never shorter, so aims that were met all the same were met. */
async function attempt({ run }: Bench, request: Parameters<Bench['run']>[0]): Promise<Attempt> {
  try {
    const report = await run(request)
    const missed = report.aims
      .filter(({ met }) => !met)
      .map(({ aim, measured }) => `${aim} (${measured ?? 'not measured'})`)
    const serious = report.doubts.filter(({ kind }) => kind !== 'generator-saturated')
    const met = missed.length + serious.length === 0
    const texts = [...(met ? ['met'] : missed), ...report.doubts.map(({ text }) => text)]
    return { met, end: whatEnded(report), report, text: texts.join('; ') }
  } catch (error) {
    if (!tooMuch.some((code) => isRunnelError(error, code))) throw error
    const end = isRunnelError(error, 'BENCH_TOO_FEW_FILES') ? 'generator' : 'network'
    return { met: false, end, report: undefined, text: errorText(error) }
  }
}

function resultText({ ramp }: FindArguments, { load, end }: RampResult): string {
  const most = `found: ${load} ${ramp === 'clients' ? 'users' : 'messages a second of each publisher'}`
  return end === 'limit' ? `${most}; nothing ended it but --most or --steps` : `${most}; the ${end} ended it`
}
