import { limits } from '@runnel/protocol'
import { checkRange } from '../../cli/check-range.ts'
import { notice } from '../../cli/output.ts'
import { parseAims } from '../core/aims.ts'
import type { RampKind, RampResult } from '../core/ramp.ts'
import { nodeError } from '../../errors.ts'
import { climb } from './climb.ts'
import { maxLoad, requestOf } from './request.ts'
import { withBench, type RunArguments } from './run-command.ts'
import { boundOf } from './run-bench.ts'

export interface FindArguments {
  readonly ramp: RampKind
  /** Default: a thousand, or as many users as the partitions of a stream are enough for. */
  readonly most: number | undefined
  readonly steps: number
  readonly room: number | undefined
}

/** The largest load that is tried where nothing else is said. */
const defaultMost = 1_000
/** What a network should do where nothing else is said. */
const defaultAim = 'p99<100ms,loss=0'

/**
 * Looks for the largest load that meets the aims, and says what ended it. Throws USAGE, BENCH_AIM_MISSED where the first load fails already, and
 * what a run throws that is not for its size.
 */
export async function findCommand(args: RunArguments, find: FindArguments): Promise<void> {
  checkRange('steps', find.steps, 1, 50)
  const requestFor = (load: number) => {
    const loaded = find.ramp === 'clients' ? { ...args, clients: Math.round(load) } : { ...args, rate: load }
    const shape = { title: 'find', subscribes: true, publishes: true, room: find.room }
    const request = requestOf(loaded, shape)
    return { ...request, aims: parseAims(args.aim ?? defaultAim) }
  }
  const from = find.ramp === 'clients' ? args.clients : (args.rate ?? 1)
  // What is wrong with the first is said before anything starts.
  requestFor(from)
  const most = mostOf(args, find, from)
  const largest = requestFor(most)
  const needs = { parts: largest.parts, storage: false, boundMs: boundOf(largest) * find.steps }
  const withParts = { ...args, room: find.room, ...(find.ramp === 'clients' ? { most } : {}) }
  await withBench(withParts, needs, async (bench) => {
    const { best, result, tried, refused, cut } = await climb(
      { from, most, maxSteps: find.steps },
      {
        requestFor,
        run: (request) => bench.run(request),
        onPhase: (text) => bench.outputs.phase(`${find.ramp} ${text}`),
      },
    )
    const lines = [resultText(find, result), ...(refused === undefined ? [] : [refused])]
    if (best !== undefined)
      bench.outputs.report(best, { lines, found: { ...result, ramp: find.ramp, tried } })
    else lines.forEach(notice)
    if (cut !== undefined) throw cut.error
    if (result.load === 0) throw nodeError('BENCH_AIM_MISSED', `already at ${from} ${find.ramp}`)
  })
}

/** Throws USAGE. */
function mostOf({ network }: RunArguments, find: FindArguments, from: number): number {
  if (find.most === undefined) {
    const { room = Infinity } = network === undefined ? {} : find
    return Math.max(from, Math.min(defaultMost, room * limits.maxPartitions))
  }
  if (!(find.most >= 1 && find.most <= maxLoad))
    throw nodeError('USAGE', `--most takes a number from 1 to ${maxLoad}`)
  if (find.most < from) throw nodeError('USAGE', `--most ${find.most}: less than the ${from} it begins with`)
  return find.most
}

function resultText({ ramp }: FindArguments, { load, end }: RampResult): string {
  const most = `found: ${load} ${ramp === 'clients' ? 'users' : 'messages a second of each publisher'}`
  if (end === 'ended-early') return `${most}; it was ended early`
  return end === 'limit' ? `${most}; nothing ended it but --most or --steps` : `${most}; the ${end} ended it`
}
