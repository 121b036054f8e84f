import type { CommandModule } from 'yargs'
import { simError } from '../errors.ts'
import { runFuzz, type FuzzReport } from '../scenarios/fuzz/fuzz-run.ts'
import { showProgress } from './progress.ts'

interface FuzzArguments {
  readonly seeds: number
  readonly from: number
  readonly json: boolean
}

/** Each so many-th seed is run twice: the same seed has to be the same run. */
const repeatEvery = 20
const maxSeeds = 1_000_000

export const fuzzCommand: CommandModule<object, FuzzArguments> = {
  command: 'fuzz',
  describe: 'worlds in which anything happens, from random seeds: does what must always hold, always hold?',
  builder: {
    seeds: { type: 'number', default: 100, describe: 'runs, each with the next seed' },
    from: { type: 'number', default: 1, describe: 'the first seed' },
    json: { type: 'boolean', default: false, describe: 'one line of JSON' },
  },
  handler: async ({ seeds, from, json }) => {
    for (const [name, value] of Object.entries({ seeds, from }))
      if (!Number.isSafeInteger(value) || value < 1 || value > maxSeeds)
        throw simError('INVALID_ARGUMENT', `--${name} is a whole number from 1 to ${maxSeeds}`)
    const reports: FuzzReport[] = []
    for (let seed = from; seed < from + seeds; seed++) {
      showProgress(`seed ${seed}, ${reports.filter(({ breach }) => breach !== null).length} failed`)
      const report = await fuzzTwice(String(seed), seed % repeatEvery === 0)
      reports.push(report)
      showProgress('')
      if (report.breach !== null) process.stderr.write(`${describeBreach(report)}\n`)
    }
    const summary = summarize(reports)
    process.stdout.write(`${JSON.stringify(summary, null, json ? 0 : 2)}\n`)
    process.exitCode = summary.failed.length === 0 ? 0 : 1
  },
}

/** A run, and when asked for the same run again. */
export async function fuzzTwice(seed: string, again: boolean): Promise<FuzzReport> {
  const report = await runFuzz(seed)
  if (!again || report.breach !== null) return report
  const { traceHash, virtualMs } = await runFuzz(seed)
  if (traceHash === report.traceHash) return report
  const detail = `${report.traceHash} the first time, ${traceHash} the second`
  return { ...report, breach: { invariant: 'same trace', atMs: virtualMs, detail } }
}

/** What was broken, when, and how to see it again. */
export function describeBreach({ seed, breach }: Pick<FuzzReport, 'seed' | 'breach'>): string {
  if (breach === null) return `seed ${seed}: all held`
  const { invariant, atMs, detail } = breach
  return `seed ${seed}: ${invariant}, at ${(atMs / 1000).toFixed(3)} s: ${detail}\n  npm run -s sim -- fuzz --from ${seed} --seeds 1`
}

function summarize(reports: readonly FuzzReport[]) {
  const total = (pick: (report: FuzzReport) => number): number =>
    reports.reduce((sum, report) => sum + pick(report), 0)
  const failed = reports.flatMap(({ seed, breach }) => (breach === null ? [] : [{ seed, ...breach }]))
  return {
    experiment: 'fuzz',
    seeds: reports.length,
    nodes: total(({ plan }) => plan.nodes),
    virtualHours: Number((total(({ virtualMs }) => virtualMs) / 3_600_000).toFixed(2)),
    given: total(({ given }) => given),
    floodsChecked: total(({ floodsChecked }) => floodsChecked),
    failed,
  }
}
