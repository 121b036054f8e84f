import type { CommandModule } from 'yargs'
import { overAfter } from '../processes/over.ts'
import { runProcesses, type ProcessesOptions, type ProcessesReport } from '../processes/run-processes.ts'
import { describeSeed, isPerfect, summarize } from '../report/loss-report.ts'
import { runLoss, type LossReport } from '../scenarios/loss.ts'
import { checkedLoss, lossBuilder, type LossArguments } from './loss-arguments.ts'
import { showProgress } from './progress.ts'
import { beginBound } from './time-bound.ts'
import { oneLinkDefaults, runOneLink } from '../scenarios/one-link.ts'

/** How long processes may look for what they miss after the last message. */
const settleLimitMs = 60_000

type Checked = ReturnType<typeof checkedLoss>
type Progress = (text: string) => void

export const lossCommand: CommandModule<object, LossArguments> = {
  command: 'loss',
  describe: 'frames are lost on every link and nodes are killed: does every subscriber get every message?',
  builder: lossBuilder,
  handler: async (argv) => {
    const checked = checkedLoss(argv)
    const run = argv.processes ? processes : argv.oneLink ? oneLink : loss
    const complete = await run(checked, beginBound(checked))
    process.exitCode = complete ? 0 : 1
  },
}

/** True when every survivor got everything in every run. */
async function loss(argv: Checked, onProgress: Progress): Promise<boolean> {
  const { nodes, degree, publishers, rate, seconds, thinFloods } = argv
  const options = {
    nodes,
    degree,
    publishers,
    rate,
    seconds,
    lossRate: argv.loss,
    killEverySeconds: argv.killEvery,
    fillGaps: argv.fill,
    thinFloods,
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

async function oneLink(argv: Checked, onProgress: Progress): Promise<boolean> {
  const runs = []
  for (const seed of seedsOf(argv)) {
    // Other neighbours that have everything; and none but the one at the other end of the lossy link.
    for (const nodes of [argv.nodes, 2]) {
      const options = { ...oneLinkDefaults, degree: argv.degree, lossRate: argv.loss, nodes, seed }
      runs.push(await runOneLink(options, onProgress))
    }
  }
  showProgress('')
  const report = { sim: 'loss', oneLink: true, runs }
  process.stdout.write(`${JSON.stringify(report, null, argv.json ? 0 : 2)}\n`)
  return runs.every(({ delivered, expected }) => delivered === expected)
}

async function processes(argv: Checked): Promise<boolean> {
  const runs: ProcessesReport[] = []
  const seeds = seedsOf(argv)
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

function processesOptions(argv: Checked, seed: string): ProcessesOptions {
  const { nodes, degree, publishers, rate, seconds, loss: lossRate, killEvery } = argv
  return {
    seed,
    nodes,
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

function seedsOf({ seed, seeds }: Checked): string[] {
  return Array.from({ length: seeds }, (_, i) => String(seed + i))
}
