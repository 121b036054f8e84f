import type { CommandModule } from 'yargs'
import { overAfter } from '../processes/over.ts'
import { runProcesses, type ProcessesOptions, type ProcessesReport } from '../processes/run-processes.ts'
import { describeSeed, isPerfect, summarize } from '../report/loss-report.ts'
import { lossDefaults, runLoss, type LossReport } from '../scenarios/loss.ts'
import { floodsOption, type Floods } from './floods-option.ts'
import { showProgress } from './progress.ts'
import { beginBound, minutesOption } from './time-bound.ts'
import { oneLinkDefaults, runOneLink } from '../scenarios/one-link.ts'

/** Node processes that a machine with two cores carries. */
const defaultProcesses = 10
/** How long processes may look for what they miss after the last message. */
const settleLimitMs = 60_000

interface LossArguments {
  readonly seeds: number | undefined
  readonly seed: number
  readonly nodes: number | undefined
  readonly degree: number
  readonly publishers: number
  readonly rate: number
  readonly seconds: number
  readonly loss: number
  readonly killEvery: number
  readonly fill: boolean
  readonly floods: Floods
  readonly oneLink: boolean
  readonly processes: boolean
  readonly minutes: number
  readonly json: boolean
}

type Progress = (text: string) => void

export const lossCommand: CommandModule<object, LossArguments> = {
  command: 'loss',
  describe: 'frames are lost on every link and nodes are killed: does every subscriber get every message?',
  builder: {
    seeds: { type: 'number', describe: 'runs, each with the next seed; default 20, with processes 1' },
    seed: { type: 'number', default: 1, describe: 'the first seed' },
    nodes: { type: 'number', describe: `${lossDefaults.nodes}, processes ${defaultProcesses}` },
    degree: { type: 'number', default: lossDefaults.degree, describe: 'neighbours per node' },
    publishers: { type: 'number', default: lossDefaults.publishers },
    rate: { type: 'number', default: lossDefaults.rate, describe: 'messages per second of each publisher' },
    seconds: { type: 'number', default: lossDefaults.seconds, describe: 'virtual seconds of publishing' },
    loss: { type: 'number', default: lossDefaults.lossRate, describe: 'part of frames lost' },
    killEvery: {
      type: 'number',
      default: lossDefaults.killEverySeconds,
      describe: 'virtual seconds from one killed node to the next; 0 for none',
    },
    fill: {
      type: 'boolean',
      default: true,
      describe: 'fill gaps; --no-fill shows what flooding alone delivers',
    },
    ...floodsOption,
    oneLink: {
      type: 'boolean',
      default: false,
      describe: 'only one link loses frames: how soon are gaps filled?',
    },
    processes: {
      type: 'boolean',
      default: false,
      describe: 'real processes, WebRTC and WebSockets in real time; nodes: 10 unless given',
    },
    ...minutesOption(120),
    json: { type: 'boolean', default: false, describe: 'one line of JSON' },
  },
  handler: async (argv) => {
    const run = argv.processes ? processes : argv.oneLink ? oneLink : loss
    const complete = await run(argv, beginBound(argv))
    process.exitCode = complete ? 0 : 1
  },
}

/** True when every survivor got everything in every run. */
async function loss(argv: LossArguments, onProgress: Progress): Promise<boolean> {
  const { nodes = lossDefaults.nodes, degree, publishers, rate, seconds } = argv
  const options = {
    nodes,
    degree,
    publishers,
    rate,
    seconds,
    lossRate: argv.loss,
    killEverySeconds: argv.killEvery,
    fillGaps: argv.fill,
    thinFloods: argv.floods === 'thin',
  }
  const reports: LossReport[] = []
  const seeds = seedsOf(argv)
  for (const seed of seeds) {
    const done = `${reports.length} of ${seeds.length} runs, `
    const report = await runLoss({ ...options, seed }, (text) => onProgress(done + text))
    reports.push(report)
    showProgress('')
    if (!argv.json) process.stdout.write(`${describeSeed(report)}\n`)
  }
  const summary = summarize(options, reports)
  process.stdout.write(`${argv.json ? JSON.stringify(summary) : JSON.stringify(summary.total, null, 2)}\n`)
  return reports.every(isPerfect)
}

async function oneLink(argv: LossArguments, onProgress: Progress): Promise<boolean> {
  const runs = []
  for (const seed of seedsOf(argv)) {
    // Other neighbours that have everything; and none but the one at the other end of the lossy link.
    for (const nodes of [argv.nodes ?? oneLinkDefaults.nodes, 2]) {
      const options = { ...oneLinkDefaults, degree: argv.degree, lossRate: argv.loss, nodes, seed }
      runs.push(await runOneLink(options, onProgress))
    }
  }
  showProgress('')
  const report = { sim: 'loss', oneLink: true, runs }
  process.stdout.write(`${JSON.stringify(report, null, argv.json ? 0 : 2)}\n`)
  return runs.every(({ delivered, expected }) => delivered === expected)
}

async function processes(argv: LossArguments): Promise<boolean> {
  const runs: ProcessesReport[] = []
  const seeds = seedsOf(argv, 1)
  const over = overAfter(argv.minutes, () => `${runs.length} of ${seeds.length} runs`)
  try {
    for (const seed of seeds) runs.push(await runProcesses(processesOptions(argv, seed), over))
  } finally {
    over.cancel()
  }
  const report = { sim: 'loss', processes: true, runs }
  process.stdout.write(`${JSON.stringify(report, null, argv.json ? 0 : 2)}\n`)
  return runs.every(isPerfect)
}

function processesOptions(argv: LossArguments, seed: string): ProcessesOptions {
  const { degree, publishers, rate, seconds, loss: lossRate, killEvery } = argv
  return {
    seed,
    nodes: argv.nodes ?? defaultProcesses,
    degree,
    listenEvery: 3,
    publishers,
    messages: rate * seconds,
    intervalMs: 1000 / rate,
    lossRate,
    killEveryMessages: killEvery * rate * publishers,
    settleLimitMs,
  }
}

function seedsOf({ seed, seeds }: LossArguments, byDefault = 20): string[] {
  return Array.from({ length: seeds ?? byDefault }, (_, i) => String(seed + i))
}
