import { rmSync } from 'node:fs'
import { emulationError } from '../errors.ts'
import type { PlaceFacts } from '../places/place.ts'
import { openRunDirectory } from '../places/processes/run-directory.ts'
import { Laboratory, publicAddresses } from './laboratory.ts'
import { LaboratoryTracker } from './laboratory-tracker.ts'
import { natBehaviours, natKinds, type NatKind } from './nat-kinds.ts'
import { measurePair, type PairResult } from './nat-pair.ts'
import { describeResult, rowOf, type NatRow } from './nat-rows.ts'
import { helperSets, nameOf, scenarios, type HelperSet, type Scenario } from './nat-scenarios.ts'
import { probeNat, startResponder } from './probe/probe-nat.ts'
import { startTurnServer, type TurnPlace } from './turn-server.ts'

export interface NatOptions {
  /** How often each pair is set up. */
  readonly repeats: number
  readonly helpers: readonly HelperSet[]
  readonly scenarios: readonly Scenario[]
}

export const natDefaults = {
  repeats: 5,
  helpers: Object.keys(helperSets) as HelperSet[],
  scenarios,
} as const satisfies NatOptions

export interface NatReport {
  readonly rows: readonly NatRow[]
  readonly facts: PlaceFacts
}

/**
 * Real nodes behind emulated NATs, with a real tracker and a real STUN and TURN server between them: how each pair comes to be linked, and how long that takes.
 * Every NAT is proven to be what it is called before a node stands behind it. Rejects with ROOT_NEEDED before it
 * starts anything, with PROCESS_FAILED, and with whatever the signal aborts with; nothing is left behind in any case.
 */
export async function runNat(
  options: NatOptions,
  signal: AbortSignal,
  onProgress: (text: string) => void,
): Promise<NatReport> {
  if (process.getuid?.() !== 0) throw emulationError('ROOT_NEEDED')
  const directory = openRunDirectory()
  const laboratory = new Laboratory()
  try {
    laboratory.start()
    await proveKinds(laboratory, options.scenarios, signal)
    const spawn: TurnPlace['spawn'] = (...args) => laboratory.spawn(laboratory.internet, ...args)
    const turn = await startTurnServer({ address: publicAddresses[0], directory, spawn }, signal)
    const rows: NatRow[] = []
    for (const helpers of options.helpers) {
      const tracker = new LaboratoryTracker({ helpers, turn, directory }, { laboratory })
      try {
        await tracker.start(signal)
        for (const scenario of options.scenarios) {
          const results: PairResult[] = []
          for (let i = 0; i < options.repeats; i++) {
            onProgress(`${helpers}: ${nameOf(scenario)}, ${i + 1} of ${options.repeats}`)
            const result = await runOnce(scenario, tracker, laboratory, onProgress, signal)
            onProgress(describeResult(result))
            results.push(result)
          }
          rows.push(rowOf(scenario, helpers, results))
        }
      } finally {
        await tracker.stop()
      }
    }
    return { rows, facts: { coturn: turn.version } }
  } catch (error) {
    // Whatever was under way when it was ended says so in its own words.
    signal.throwIfAborted()
    throw error
  } finally {
    await laboratory.remove()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Throws PLACE_CANNOT when a NAT does not do what its kind does. */
async function proveKinds(
  laboratory: Laboratory,
  wanted: readonly Scenario[],
  signal: AbortSignal,
): Promise<void> {
  await startResponder(laboratory, signal)
  const used = new Set<NatKind>(wanted.flatMap(({ a, b }) => [a, b]))
  for (const kind of natKinds.filter((one) => used.has(one))) {
    const site = laboratory.addSite(kind)
    const [host] = site.hosts
    const found = host && (await probeNat(laboratory, host, signal))
    await site.remove()
    if (JSON.stringify(found) !== JSON.stringify(natBehaviours[kind]))
      throw emulationError('PLACE_CANNOT', `a ${kind} NAT behaves as ${JSON.stringify(found)}`)
  }
}

async function runOnce(
  { a, b, together = false, reachable = false }: Scenario,
  tracker: LaboratoryTracker,
  laboratory: Laboratory,
  onProgress: (text: string) => void,
  signal: AbortSignal,
): Promise<PairResult> {
  const sites = together ? [laboratory.addSite(a, 2)] : [laboratory.addSite(a), laboratory.addSite(b)]
  try {
    const [one, other] = sites.flatMap(({ hosts }) => hosts)
    if (!one || !other) throw new RangeError('a pair has two hosts')
    return await measurePair({ ...tracker.newStream(), places: [one, other], reachable, onProgress }, signal)
  } finally {
    for (const site of sites) await site.remove()
  }
}
