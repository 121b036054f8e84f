import type { CommandModule } from 'yargs'
import { describeSeed, isPerfect, summarize } from '../report/loss-report.ts'
import { lossDefaults, runLoss, type LossReport } from '../scenarios/loss.ts'
import { oneLinkDefaults, runOneLink } from '../scenarios/one-link.ts'

interface LossArguments {
  readonly seeds: number
  readonly seed: number
  readonly nodes: number
  readonly degree: number
  readonly publishers: number
  readonly rate: number
  readonly seconds: number
  readonly loss: number
  readonly killEvery: number
  readonly oneLink: boolean
  readonly json: boolean
}

export const lossCommand: CommandModule<object, LossArguments> = {
  command: 'loss',
  describe: 'frames are lost on every link and nodes are killed: does every subscriber get every message?',
  builder: {
    seeds: { type: 'number', default: 20, describe: 'runs, each with the next seed' },
    seed: { type: 'number', default: 1, describe: 'the first seed' },
    nodes: { type: 'number', default: lossDefaults.nodes },
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
    oneLink: {
      type: 'boolean',
      default: false,
      describe: 'only one link loses frames: how soon are gaps filled?',
    },
    json: { type: 'boolean', default: false, describe: 'one line of JSON' },
  },
  handler: async (argv) => {
    const complete = argv.oneLink ? await oneLink(argv) : await loss(argv)
    process.exitCode = complete ? 0 : 1
  },
}

/** True when every survivor got everything in every run. */
async function loss(argv: LossArguments): Promise<boolean> {
  const { nodes, degree, publishers, rate, seconds } = argv
  const options = {
    nodes,
    degree,
    publishers,
    rate,
    seconds,
    lossRate: argv.loss,
    killEverySeconds: argv.killEvery,
  }
  const reports: LossReport[] = []
  for (const seed of seedsOf(argv)) {
    const report = await runLoss({ ...options, seed })
    reports.push(report)
    if (!argv.json) process.stdout.write(`${describeSeed(report)}\n`)
  }
  const summary = summarize(options, reports)
  process.stdout.write(`${argv.json ? JSON.stringify(summary) : JSON.stringify(summary.total, null, 2)}\n`)
  return reports.every(isPerfect)
}

async function oneLink(argv: LossArguments): Promise<boolean> {
  const runs = []
  for (const seed of seedsOf(argv)) {
    // Other neighbours that have everything; and none but the one at the other end of the lossy link.
    for (const nodes of [argv.nodes, 2]) {
      runs.push(
        await runOneLink({ ...oneLinkDefaults, degree: argv.degree, lossRate: argv.loss, nodes, seed }),
      )
    }
  }
  const report = { sim: 'loss', oneLink: true, runs }
  process.stdout.write(`${JSON.stringify(report, null, argv.json ? 0 : 2)}\n`)
  return runs.every(({ delivered, expected }) => delivered === expected)
}

function seedsOf({ seed, seeds }: LossArguments): string[] {
  return Array.from({ length: seeds }, (_, i) => String(seed + i))
}
