import type { CommandModule } from 'yargs'
import { cellOf, textTable } from '@runnel/sim/text-table'
import { makeFolder, type RecordRow } from '@runnel/sim/records'
import { checkMinutes, someMinutesOption } from '@runnel/sim/time-bound'
import { emulationError } from '../errors.ts'
import type { Experiment, ExperimentOptions } from '../experiments/experiment.ts'
import { longestMinutes } from '../experiments/longest.ts'
import { runOnPlace } from '../experiments/run-on-place.ts'
import { createPlace, hostsGiven, placeKinds, placeTakes, type PlaceOptions } from '../places/create-place.ts'
import { maxNamespaceNodes } from '../places/namespaces/namespaces-place.ts'
import { floodKinds, linkKinds, overlayKinds } from '../places/place.ts'
import { createUnderlay } from '../underlay/underlay.ts'
import { checkOption } from './check-option.ts'
import { withinMinutes } from './minutes.ts'
import { writeResults } from './write-results.ts'

interface ExperimentArguments {
  readonly place: string
  readonly hosts: string | undefined
  readonly latency: string | undefined
  readonly jitter: number | undefined
  readonly seed: number | undefined
  readonly nodes: string | undefined
  readonly degree: number | undefined
  readonly overlay: string
  readonly links: string | undefined
  readonly repeats: number | undefined
  readonly messages: number | undefined
  readonly warmUp: number | undefined
  readonly rate: number | undefined
  readonly dilation: number | undefined
  readonly floods: string | undefined
  readonly loss: string | undefined
  readonly fixed: boolean | undefined
  readonly minutes: number | undefined
  readonly check: boolean
  readonly json: boolean
  readonly out: string | undefined
}

/** An experiment as a command of the command line. */
export function experimentCommand(
  experiment: Experiment,
  interrupted: AbortSignal,
): CommandModule<object, ExperimentArguments> {
  return {
    command: experiment.name,
    describe: experiment.describe,
    builder: {
      place: { type: 'string', default: 'namespaces', describe: placeKinds.join(', ') },
      hosts: { type: 'string', describe: 'file of hosts, for --place hosts' },
      latency: {
        type: 'string',
        describe:
          'for --place namespaces and hosts: aws (the default of namespaces): table 5.1; cities: over links between 16 cities; or a file, as docs/records.md says',
      },
      jitter: {
        type: 'number',
        describe: 'for --place namespaces: standard deviation of the delay on each link, ms (0)',
      },
      seed: { type: 'number', describe: 'for --place namespaces: of loss and jitter (1)' },
      nodes: { type: 'string', describe: 'nodes; several numbers, as 16,32,64, one after the other' },
      degree: { type: 'number', describe: 'neighbours per node' },
      overlay: { type: 'string', default: 'random', describe: overlayKinds.join(' or ') },
      links: { type: 'string', describe: linkKinds.join(', ') },
      repeats: { type: 'number', describe: 'runs, each with an overlay of its own' },
      messages: { type: 'number', describe: 'messages of each publisher' },
      'warm-up': {
        type: 'number',
        describe: 'messages of each publisher beforehand, not measured, for propagation (10) and loss (5)',
      },
      rate: {
        type: 'number',
        describe:
          'messages a second of all together, for propagation (13.6); lower where one machine plays many',
      },
      dilation: {
        type: 'number',
        describe:
          'for propagation and loss: time dilation; slows down links and the clocks of processes by this factor (1)',
      },
      floods: {
        type: 'string',
        describe: `for loss: ${floodKinds.join(', ')}; several, as full,thin, take turns (thin)`,
      },
      loss: { type: 'string', describe: 'for loss: percentages, as 1,5, one after the other' },
      fixed: {
        type: 'boolean',
        describe: 'for loss: one overlay for all repeats and percentages, in place of one for each',
      },
      ...someMinutesOption,
      ...checkOption,
      json: { type: 'boolean', default: false, describe: 'one line of JSON' },
      out: { type: 'string', describe: 'folder for the record, JSON' },
    },
    handler: async (argv) => {
      const options = optionsOf(argv)
      const sizes = sizesOf(experiment, argv.nodes)
      refuseWhatItDoesNotTake(experiment, options)
      const place = placeOptionsOf(argv)
      refuseWhatPlaceCannot(place, experiment, options, sizes)
      const minutes = argv.minutes ?? longestMinutes(experiment, options, { sizes, place: place.place })
      if (argv.check) return checkTheRest(place, minutes)
      if (argv.out !== undefined) makeFolder(argv.out)
      const onProgress = (text: string): void => void process.stderr.write(`${experiment.name}: ${text}\n`)
      const { rows, facts, source } = await withinMinutes(minutes, interrupted, (signal) =>
        runOnPlace(
          { experiment, options, sizes, signal },
          { createPlace: () => createPlace(place), onProgress },
        ),
      )
      process.stdout.write(
        `${argv.json ? JSON.stringify({ experiment: experiment.name, rows }) : tabulate(experiment, rows)}\n`,
      )
      if (argv.out !== undefined)
        writeResults(argv.out, {
          experiment: experiment.name,
          source,
          rows,
          facts,
          parameters: { ...place, nodes: argv.nodes, ...options, floods: argv.floods, losses: argv.loss },
        })
    },
  }
}

function tabulate({ columns }: Experiment, rows: readonly RecordRow[]): string {
  return textTable(
    columns,
    rows.map((row) => columns.map((column) => cellOf(row[column]))),
  )
}

const limits = {
  nodes: { min: 2, max: 10_000 },
  degree: { min: 2, max: 64 },
  repeats: { min: 1, max: 1_000 },
  messages: { min: 1, max: 100_000 },
  warmUp: { min: 0, max: 1_000 },
}

/** Keeps round trips of 300 ms below the time after which a silent peer counts as dead. */
const maxDilation = 10

/** Checks the arguments. Throws INVALID_ARGUMENT. */
function optionsOf(argv: ExperimentArguments): Omit<ExperimentOptions, 'nodes'> {
  return {
    degree: whole('degree', argv.degree),
    overlay: oneOf('overlay', overlayKinds, argv.overlay),
    links: argv.links === undefined ? undefined : oneOf('links', linkKinds, argv.links),
    repeats: whole('repeats', argv.repeats),
    messages: whole('messages', argv.messages),
    warmUp: whole('warmUp', argv.warmUp),
    rate: rateOf(argv.rate),
    dilation: dilationOf(argv.dilation),
    floods: argv.floods?.split(',').map((kind) => oneOf('floods', floodKinds, kind)),
    losses: argv.loss?.split(',').map(percentageOf),
    fixed: argv.fixed,
  }
}

/** Delays are of one set of hosts: they become one file. */
function sizesOf({ name }: Experiment, nodes: string | undefined): readonly (number | undefined)[] {
  const sizes = nodes?.split(',').map((number) => whole('nodes', Number(number)))
  if (name === 'delays' && (sizes?.length ?? 0) > 1)
    throw emulationError('INVALID_ARGUMENT', 'delays takes one number of --nodes')
  return sizes ?? [undefined]
}

function placeOptionsOf(argv: ExperimentArguments): PlaceOptions {
  const { hosts, latency, jitter: jitterMs, seed } = argv
  const place = oneOf('place', placeKinds, argv.place)
  for (const option of ['hosts', 'latency', 'jitter', 'seed', 'floods'] as const)
    if (argv[option] !== undefined && !placeTakes[place].includes(option))
      throw emulationError('INVALID_ARGUMENT', `--place ${place} takes no --${option}`)
  if (jitterMs !== undefined && !(Number.isFinite(jitterMs) && jitterMs >= 0))
    throw emulationError('INVALID_ARGUMENT', '--jitter is 0 or more')
  if (seed !== undefined && !(Number.isSafeInteger(seed) && seed >= 0))
    throw emulationError('INVALID_ARGUMENT', '--seed is a whole number from 0')
  return { place, hosts, latency, jitterMs, seed }
}

function rateOf(rate: number | undefined): number | undefined {
  if (rate === undefined || (Number.isFinite(rate) && rate > 0)) return rate
  throw emulationError('INVALID_ARGUMENT', '--rate is more than 0')
}

function percentageOf(text: string): number {
  const percentage = Number(text)
  if (text !== '' && percentage >= 0 && percentage < 100) return percentage
  throw emulationError('INVALID_ARGUMENT', '--loss is of percentages from 0, below 100')
}

function dilationOf(dilation: number | undefined): number | undefined {
  if (dilation === undefined || (dilation >= 1 && dilation <= maxDilation)) return dilation
  throw emulationError('INVALID_ARGUMENT', `--dilation is from 1 to ${maxDilation}`)
}

function refuseWhatItDoesNotTake(
  { name, takes }: Experiment,
  options: Omit<ExperimentOptions, 'nodes'>,
): void {
  for (const option of ['repeats', 'warmUp', 'rate', 'dilation', 'floods', 'losses', 'fixed'] as const)
    if (options[option] !== undefined && !takes.includes(option))
      throw emulationError('INVALID_ARGUMENT', `${name} takes no ${flagOf(option)}`)
}

/** What the place would refuse itself, or ignore, once it is up and, where it has machines, paid for. Throws PLACE_CANNOT. */
function refuseWhatPlaceCannot(
  { place }: PlaceOptions,
  { takes }: Experiment,
  { losses, links, dilation = 1 }: Omit<ExperimentOptions, 'nodes'>,
  sizes: readonly (number | undefined)[],
): void {
  if (place === 'namespaces' && sizes.some((nodes = 0) => nodes > maxNamespaceNodes))
    throw emulationError('PLACE_CANNOT', `at most ${maxNamespaceNodes} nodes in namespaces`)
  if (place !== 'namespaces' && dilation !== 1)
    throw emulationError('PLACE_CANNOT', `${place} cannot change its delays: no --dilation`)
  if (place === 'loopback' && losses?.some((percentage) => percentage > 0))
    throw emulationError('PLACE_CANNOT', 'loopback loses nothing: only --loss 0')
  if (place !== 'hosts' || !takes.includes('losses')) return
  if (losses?.every((percentage) => percentage === 0) !== true)
    throw emulationError('PLACE_CANNOT', 'hosts cannot have their loss set: only --loss 0')
  if (links === undefined)
    throw emulationError('PLACE_CANNOT', 'hosts have one kind of links, which --links says')
}

/** What is checked when it is used; the file of hosts may not be there yet. Throws INVALID_ARGUMENT, and what reading latencies throws. */
function checkTheRest({ place, hosts, latency }: PlaceOptions, minutes: number): void {
  checkMinutes(minutes)
  if (place === 'hosts') hostsGiven(hosts)
  if (latency !== undefined) createUnderlay(latency)
}

/** As it is typed: `--warm-up`. */
function flagOf(option: keyof ExperimentOptions): string {
  if (option === 'losses') return '--loss'
  return `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

function oneOf<Word extends string>(name: string, words: readonly Word[], given: string): Word {
  const word = words.find((one) => one === given)
  if (word !== undefined) return word
  throw emulationError('INVALID_ARGUMENT', `--${name} is one of ${words.join(', ')}`)
}

function whole(name: keyof typeof limits, value: number | undefined): number | undefined {
  const { min, max } = limits[name]
  if (value === undefined || (Number.isSafeInteger(value) && value >= min && value <= max)) return value
  throw emulationError('INVALID_ARGUMENT', `${flagOf(name)} is a whole number from ${min} to ${max}`)
}
