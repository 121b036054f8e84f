import { spawnSync } from 'node:child_process'
import { percentile, round } from '../statistics.ts'
import { installedVersion } from './installed.ts'
import type { InstalledArm, Round } from './run-arm.ts'

export interface ArmFigures {
  readonly name: string
  readonly system: string
  readonly version: string
  readonly links: string
  readonly settings: string
  readonly verifies: string
  readonly encrypted: string
  readonly isCentral: boolean
  readonly rounds: number
  readonly saturated: {
    readonly deliveriesPerS: number
    readonly cpuUsPerDelivery: number
    /** Lowest and highest of the rounds. */
    readonly cpuUsRange: readonly [number, number]
    readonly serverCpuUsPerDelivery?: number
    readonly duplicatesPerMessage?: number
    /** In all rounds. */
    readonly lost: number
  }
  readonly paced: {
    readonly p50Ms: number
    readonly p99Ms: number
    readonly cpuUsPerDelivery: number
    readonly serverCpuUsPerDelivery?: number
    readonly duplicatesPerMessage?: number
    readonly lost: number
  }
  readonly firstMessageMs?: number
}

/** Medians of the rounds; none of an arm without rounds. */
export function figuresOf(arm: InstalledArm, rounds: readonly Round[]): ArmFigures[] {
  if (rounds.length === 0) return []
  const { name, system, links, settings, verifies, encrypted, isCentral } = arm
  const saturated = rounds.map((one) => one.saturated)
  const paced = rounds.map((one) => one.paced)
  const joinsMs = rounds.flatMap((one) => one.joinsMs)
  const cpu = saturated.map(({ cpuUsPerDelivery }) => cpuUsPerDelivery)
  return [
    {
      ...{ name, system, version: versionOf(arm), links, settings, verifies, encrypted, isCentral },
      rounds: rounds.length,
      saturated: {
        deliveriesPerS: median(saturated.map(({ deliveriesPerS }) => deliveriesPerS)),
        ...common(saturated),
        cpuUsRange: [round(Math.min(...cpu)), round(Math.max(...cpu))],
      },
      paced: {
        p50Ms: median(paced.flatMap(({ p50Ms }) => p50Ms ?? [])),
        p99Ms: median(paced.flatMap(({ p99Ms }) => p99Ms ?? [])),
        ...common(paced),
      },
      ...(joinsMs.length > 0 && { firstMessageMs: median(joinsMs) }),
    },
  ]
}

function common(loads: readonly Round['paced'][]) {
  const server = loads.flatMap(({ serverCpuUsPerDelivery }) => serverCpuUsPerDelivery ?? [])
  const duplicates = loads.flatMap(({ duplicatesPerMessage }) => duplicatesPerMessage ?? [])
  return {
    cpuUsPerDelivery: median(loads.map(({ cpuUsPerDelivery }) => cpuUsPerDelivery)),
    ...(server.length > 0 && { serverCpuUsPerDelivery: median(server) }),
    ...(duplicates.length > 0 && { duplicatesPerMessage: median(duplicates) }),
    lost: loads.reduce((sum, { lost }) => sum + lost, 0),
  }
}

const median = (values: readonly number[]): number => round(percentile(values, 0.5))

function versionOf({ version, versionOf: name, recipe, directory }: InstalledArm): string {
  if (version !== undefined) return version
  if (name !== undefined) return installedVersion(directory, name)
  return recipe?.debian === undefined ? '' : programVersion(recipe.debian.program)
}

/** What a program of Debian says of itself when it is asked for help. */
function programVersion(program: string): string {
  const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` }
  const { stdout } = spawnSync(program, ['-h'], { env, encoding: 'utf8' })
  return /version (\S+)/.exec(stdout)?.[1] ?? ''
}
