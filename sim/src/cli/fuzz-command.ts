import type { CommandModule } from 'yargs'
import { inChildren, maxJobs } from '../processes/in-children.ts'
import type { FuzzReport } from '../scenarios/fuzz/report.ts'
import { worldNames, type FuzzRuns, type WorldName } from '../scenarios/fuzz/worlds.ts'
import { wholeNumbers } from './arguments.ts'
import { floodsOption, type Floods } from './floods-option.ts'
import { showProgress } from './progress.ts'
import { beginBound, minutesOption } from './time-bound.ts'

interface FuzzArguments {
  readonly world: WorldName
  readonly seeds: number
  readonly from: number
  readonly jobs: number
  readonly minutes: number
  readonly floods: Floods
  readonly stopAtFirst: boolean
  readonly json: boolean
}

const maxSeeds = 1_000_000
/** Seeds that a process is given at a time. */
const seedsAtATime = 20

export const fuzzCommand: CommandModule<object, FuzzArguments> = {
  command: 'fuzz',
  describe: 'worlds from random seeds: do all invariants hold?',
  builder: {
    world: {
      choices: worldNames,
      default: 'anything' as WorldName,
      describe:
        'kind of world: random events, also with light clients, or an attacker that does what its keys allow',
    },
    seeds: { type: 'number', default: 100, describe: 'runs, each with the next seed' },
    from: { type: 'number', default: 1, describe: 'the first seed' },
    jobs: { type: 'number', default: 1, describe: 'processes to run them in: one for each 20 seeds at most' },
    ...minutesOption(1_440),
    ...floodsOption,
    stopAtFirst: { type: 'boolean', default: false, describe: 'stops at the first violation' },
    json: { type: 'boolean', default: false, describe: 'one line of JSON' },
  },
  handler: async ({ world, seeds, from, jobs, floods, stopAtFirst, minutes, json }) => {
    wholeNumbers({ seeds, from }, maxSeeds)
    wholeNumbers({ jobs }, maxJobs)
    beginBound({ minutes })
    const total = newTotal()
    const runs = runsOf({ world, from, seeds, thinFloods: floods === 'thin' })
    const children = { jobs: Math.min(jobs, Math.ceil(seeds / seedsAtATime)), minutes }
    for await (const reports of inChildren<FuzzRuns, FuzzReport[]>(fuzzChild, runs, children)) {
      for (const report of reports) {
        add(total, report)
        showProgress('')
        if (report.breach !== null) process.stderr.write(`${describeBreach(report)}\n`)
        showProgress(`${world}: ${total.seeds} of ${seeds} seeds, ${total.failed.length} failed`)
      }
      if (stopAtFirst && total.failed.length > 0) break
    }
    showProgress('')
    const virtualHours = Number((total.virtualMs / 3_600_000).toFixed(2))
    const { virtualMs: _, ...figures } = { ...total, virtualHours }
    process.stdout.write(
      `${JSON.stringify({ experiment: 'fuzz', world, floods, ...figures }, null, json ? 0 : 2)}\n`,
    )
    process.exitCode = total.failed.length === 0 ? 0 : 1
  },
}

const fuzzChild = new URL('./fuzz-child.ts', import.meta.url)

function* runsOf({ from, seeds, ...runs }: FuzzRuns): Iterable<FuzzRuns> {
  for (let at = from; at < from + seeds; at += seedsAtATime)
    yield { ...runs, from: at, seeds: Math.min(seedsAtATime, from + seeds - at) }
}

/** What was broken, when, and how to see it again. */
export function describeBreach({
  world,
  seed,
  attackers,
  breach,
}: Pick<FuzzReport, 'world' | 'seed' | 'attackers' | 'breach'>): string {
  if (breach === null) return `${world}, seed ${seed}: all held`
  const { invariant, atMs, detail } = breach
  const command = `npm run -s sim -- fuzz --world ${world} --from ${seed} --seeds 1`
  const who = [world, ...attackers].join(', ')
  return `seed ${seed} (${who}): ${invariant}, at ${(atMs / 1000).toFixed(3)} s: ${detail}\n  ${command}`
}

function newTotal() {
  const failed: object[] = []
  return {
    seeds: 0,
    nodes: 0,
    virtualMs: 0,
    given: 0,
    served: 0,
    blamed: 0,
    opened: 0,
    floodsChecked: 0,
    failed,
  }
}

function add(total: ReturnType<typeof newTotal>, report: FuzzReport): void {
  total.seeds++
  for (const figure of [
    'nodes',
    'virtualMs',
    'given',
    'served',
    'blamed',
    'opened',
    'floodsChecked',
  ] as const)
    total[figure] += report[figure]
  const { seed, attackers, breach } = report
  if (breach !== null) total.failed.push({ seed, attackers, ...breach })
}
