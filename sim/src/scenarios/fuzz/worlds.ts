import { attackedWorlds, type AttackedWorld } from './attack-plan.ts'
import { runAttack } from './attack-run.ts'
import { runFuzz, runGuests } from './fuzz-run.ts'
import type { FuzzReport } from './report.ts'

export type WorldName = 'anything' | 'guests' | AttackedWorld
export const worldNames: readonly WorldName[] = ['anything', 'guests', ...attackedWorlds]

/** Each so many-th seed is run twice: the same seed has to be the same run. */
const repeatEvery = 20

/** Seeds for one process. */
export interface FuzzRuns {
  readonly world: WorldName
  readonly from: number
  readonly seeds: number
  /** False: nodes send every neighbour a copy of everything. Default true. */
  readonly thinFloods?: boolean
}

/** The world of a kind that a seed gives, from its beginning to its end or the first breach. */
function runWorld(world: WorldName, seed: string, thinFloods?: boolean): Promise<FuzzReport> {
  if (world === 'anything') return runFuzz(seed, thinFloods)
  return world === 'guests' ? runGuests(seed, thinFloods) : runAttack(world, seed, thinFloods)
}

/** A run, and when asked for the same run again: the same seed has to be the same run. */
export async function runTwice(
  world: WorldName,
  seed: string,
  again: boolean,
  thinFloods?: boolean,
): Promise<FuzzReport> {
  const report = await runWorld(world, seed, thinFloods)
  if (!again || report.breach !== null) return report
  const { traceHash, virtualMs } = await runWorld(world, seed, thinFloods)
  if (traceHash === report.traceHash) return report
  const detail = `${report.traceHash} the first time, ${traceHash} the second`
  return { ...report, breach: { invariant: 'same trace', atMs: virtualMs, detail } }
}

/** One report for each seed. */
export async function runSeeds({ world, from, seeds, thinFloods }: FuzzRuns): Promise<FuzzReport[]> {
  const reports: FuzzReport[] = []
  for (let seed = from; seed < from + seeds; seed++)
    reports.push(await runTwice(world, String(seed), seed % repeatEvery === 0, thinFloods))
  return reports
}
