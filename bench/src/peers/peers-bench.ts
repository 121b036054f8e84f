import { availableParallelism } from 'node:os'
import { benchError } from '../errors.ts'
import { catalogue } from './catalogue.ts'
import { install } from './install.ts'
import { firstLine, runArm, type InstalledArm, type Round, type RoundOptions } from './run-arm.ts'
import { contentBytes } from './system.ts'
import { figuresOf } from './figures.ts'

export interface PeersOptions extends RoundOptions {
  /** Of the arms, those whose name begins with one of these; all when there are none. */
  readonly only: readonly string[]
  readonly rounds: number
  /** No round of an arm is begun that would end after it. */
  readonly limitS: number
}

/** An arm may need so long, beside its loads, before it is given up: overlays settle, floods drain. */
const armLimitS = 90

/**
 * The same work for Runnel and its peers, on this machine, by turns in several rounds: one publisher, one topic, everybody else a subscriber.
 * A peer that cannot be installed or fails is named with the reason, and the others run on.
 */
export async function peersBench(options: PeersOptions, tell: (text: string) => void) {
  const endMs = performance.now() + options.limitS * 1000
  const wanted = catalogue.filter(
    ({ name }) => options.only.length === 0 || options.only.some((prefix) => name.startsWith(prefix)),
  )
  if (wanted.length === 0)
    throw benchError(
      'INVALID_ARGUMENT',
      `--only names one of ${catalogue.map(({ name }) => name).join(', ')}`,
    )
  const absent = new Map<string, string>()
  const failed: Record<string, string> = {}
  const brokeAtStop: Record<string, string> = {}
  const arms: InstalledArm[] = []
  for (const arm of wanted) {
    try {
      arms.push({ ...arm, directory: arm.recipe === undefined ? '' : await install(arm.recipe, tell) })
    } catch (error) {
      absent.set(arm.name, firstLine(error))
      tell(`without ${arm.name}: ${firstLine(error)}`)
    }
  }
  const rounds = new Map<string, Round[]>(arms.map(({ name }) => [name, []]))
  const notRun: string[] = []
  for (let n = 1; n <= options.rounds; n++) {
    for (const arm of arms) {
      const what = `round ${n} of ${options.rounds}: ${arm.name}`
      const leftMs = endMs - performance.now()
      if (arm.name in failed) continue
      if (leftMs < 3_000 * options.seconds) {
        notRun.push(what)
        continue
      }
      tell(what)
      try {
        const round = await runArm(arm, options, Math.min(leftMs, armLimitS * 1000))
        rounds.get(arm.name)?.push(round)
        if (round.stopFailure !== undefined) brokeAtStop[arm.name] = round.stopFailure
      } catch (error) {
        if (performance.now() >= endMs) {
          notRun.push(what)
          continue
        }
        failed[arm.name] = firstLine(error)
        tell(`without ${arm.name}: ${firstLine(error)}`)
      }
    }
  }
  const { nodes, perS, seconds, joins } = options
  return {
    bench: 'peers',
    date: new Date().toISOString().slice(0, 10),
    machine: { cores: availableParallelism(), node: process.versions.node, platform: process.platform },
    settings: { nodes, contentBytes, perS, seconds, joins, rounds: options.rounds },
    arms: arms.flatMap((arm) => figuresOf(arm, rounds.get(arm.name) ?? [])),
    absent: Object.fromEntries(absent),
    failed,
    brokeAtStop,
    notRun,
  }
}

export type PeersReport = Awaited<ReturnType<typeof peersBench>>
