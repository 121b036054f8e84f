import { parseAims } from '../core/aims.ts'
import type { RampKind, RampResult } from '../core/ramp.ts'
import { nodeError } from '../../errors.ts'
import { climb } from './climb.ts'
import { requestOf } from './request.ts'
import { withBench, type RunArguments } from './run-command.ts'
import { boundOf } from './run-bench.ts'

export interface FindArguments {
  readonly ramp: RampKind
  readonly most: number
  readonly steps: number
  readonly room: number | undefined
}

/** What a network should do where nothing else is said. */
const defaultAim = 'p99<100ms,loss=0'

/**
 * Looks for the largest load that meets the aims, and says what ended it. Throws USAGE, BENCH_AIM_MISSED where the first load fails already, and
 * what a run throws that is not for its size.
 */
export async function findCommand(args: RunArguments, find: FindArguments): Promise<void> {
  if (!(find.most >= 1) || !(Number.isInteger(find.steps) && find.steps >= 1 && find.steps <= 50))
    throw nodeError('USAGE', '--most takes a number from 1 on, --steps a whole one from 1 to 50')
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
    const { best, result, tried, refused, cut } = await climb(
      { from, most: find.most, maxSteps: find.steps },
      {
        requestFor,
        run: (request) => bench.run(request),
        onPhase: (text) => bench.outputs.phase(`${find.ramp} ${text}`),
      },
    )
    const lines = [resultText(find, result), ...(refused === undefined ? [] : [refused])]
    if (best !== undefined)
      bench.outputs.report(best, { lines, found: { ...result, ramp: find.ramp, tried } })
    if (cut !== undefined) throw cut.error
    if (result.load === 0) throw nodeError('BENCH_AIM_MISSED', `already at ${from} ${find.ramp}`)
  })
}

function resultText({ ramp }: FindArguments, { load, end }: RampResult): string {
  const most = `found: ${load} ${ramp === 'clients' ? 'users' : 'messages a second of each publisher'}`
  if (end === 'ended-early') return `${most}; it was ended early`
  return end === 'limit' ? `${most}; nothing ended it but --most or --steps` : `${most}; the ${end} ended it`
}
