import type { CommandModule } from 'yargs'
import { simError } from '../errors.ts'
import {
  aDay,
  overlays,
  type Experiment,
  type ExperimentOptions,
  type Overlay,
} from '../experiments/experiment.ts'
import { writeFigures } from '../figures/write-figures.ts'
import { makeFolder } from '../records/make-folder.ts'
import { writeRecord } from '../records/write-record.ts'
import type { ExperimentRecord } from '../records/record.ts'
import { floodsOption, type Floods } from './floods-option.ts'
import { showProgress } from './progress.ts'
import { checkMinutes, progressWithin, sayBound } from './time-bound.ts'

interface ExperimentArguments {
  readonly nodes: number | undefined
  readonly degree: number | undefined
  readonly overlay?: string
  readonly latency?: string
  readonly seed: string
  readonly repeats: number | undefined
  readonly floods?: Floods
  readonly rate?: number | undefined
  readonly replaced?: number | undefined
  readonly minutes: number | undefined
  readonly json: boolean
  readonly out: string | undefined
}

const limits = {
  nodes: { min: 2, max: 1_000_000 },
  degree: { min: 3, max: 64 },
  repeats: { min: 1, max: 100_000 },
  rate: { min: 1, max: 1_000 },
  replaced: { min: 1, max: 100 },
}

const rateOption = { type: 'number', describe: 'messages a second of each publisher' } as const

const overlayOption = { type: 'string', default: 'random', describe: overlays.join(' or ') } as const

const latencyOption = {
  type: 'string',
  default: 'aws',
  describe: 'aws, aws-lastmile, transit-stub, or a file',
} as const

const repeatsOption = { type: 'number', describe: 'runs, each with an overlay of its own' } as const

const replacedOption = {
  type: 'number',
  describe: 'percentage of nodes that are replaced by new ones after the first measurement',
} as const

/** An experiment as a command of the command line. */
export function experimentCommand(experiment: Experiment): CommandModule<object, ExperimentArguments> {
  const { ignores = [], usualNodes, minutes: usualMinutes = () => aDay } = experiment
  return {
    command: experiment.name,
    describe: experiment.describe,
    builder: {
      nodes: { type: 'number', describe: `nodes; ${usualNodes} unless given` },
      degree: { type: 'number', describe: 'neighbours per node' },
      ...(!ignores.includes('overlay') && { overlay: overlayOption }),
      ...(!ignores.includes('latency') && { latency: latencyOption }),
      seed: { type: 'string', default: '1', describe: 'same seed, same run' },
      ...(!ignores.includes('repeats') && { repeats: repeatsOption }),
      ...(experiment.takesFloods === true && { ...floodsOption, rate: rateOption }),
      ...(experiment.takesReplaced === true && { replaced: replacedOption }),
      minutes: {
        type: 'number',
        describe: `of real time, after which it fails; at most ${usualMinutes(undefined)} unless given`,
      },
      json: { type: 'boolean', default: false, describe: 'one line of JSON' },
      out: { type: 'string', describe: 'folder for figures, SVG and PNG, and the record, JSON' },
    },
    handler: async (argv) => {
      const options = optionsOf(argv)
      const { minutes = usualMinutes(options.nodes) } = argv
      checkMinutes(minutes)
      if (argv.out !== undefined) makeFolder(argv.out)
      sayBound(minutes)
      const { report, text, figures } = await experiment.run(options, progressWithin({ minutes }))
      showProgress('')
      // First: what cannot be written to a file is not lost.
      process.stdout.write(`${argv.json ? JSON.stringify(report) : text}\n`)
      if (argv.out === undefined) return
      writeRecord(argv.out, report, { experiment: experiment.name, parameters: givenOf(options, ignores) })
      await writeFigures(argv.out, figures)
    },
  }
}

/** Options by name; null where none was given. */
function givenOf(options: ExperimentOptions, ignores: readonly string[]): ExperimentRecord['parameters'] {
  const taken = Object.entries(options).filter(([name]) => !ignores.includes(name))
  return Object.fromEntries(taken.map(([name, value]) => [name, value ?? null]))
}

/** Checks the arguments. Throws INVALID_ARGUMENT. */
export function optionsOf(argv: Omit<ExperimentArguments, 'minutes' | 'json' | 'out'>): ExperimentOptions {
  const { overlay = overlayOption.default, latency = latencyOption.default, seed } = argv
  if (!isOverlay(overlay)) throw simError('INVALID_ARGUMENT', `--overlay is ${overlays.join(' or ')}`)
  if (latency === '') throw simError('INVALID_ARGUMENT', '--latency is empty')
  return {
    nodes: whole('nodes', argv.nodes),
    degree: whole('degree', argv.degree),
    overlay,
    latency,
    seed,
    repeats: whole('repeats', argv.repeats),
    ...(argv.floods !== undefined && {
      thinFloods: argv.floods === 'thin',
      rate: whole('rate', argv.rate),
    }),
    ...(argv.replaced !== undefined && { replaced: whole('replaced', argv.replaced) }),
  }
}

function isOverlay(name: string): name is Overlay {
  return overlays.some((overlay) => overlay === name)
}

function whole(name: keyof typeof limits, value: number | undefined): number | undefined {
  const { min, max } = limits[name]
  if (value === undefined || (Number.isSafeInteger(value) && value >= min && value <= max)) return value
  throw simError('INVALID_ARGUMENT', `--${name} is a whole number from ${min} to ${max}`)
}
