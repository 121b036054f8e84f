import type { Breach } from '../../measures/invariants/breaches.ts'
import type { FuzzWorld } from './fuzz-world.ts'

export interface FuzzReport {
  /** What kind of world it was. */
  readonly world: string
  readonly seed: string
  readonly nodes: number
  /** Kinds of attackers. */
  readonly attackers: readonly string[]
  /** Null when all held. */
  readonly breach: Breach | null
  readonly virtualMs: number
  /** Messages that everybody had to get, and in calm. */
  readonly floodsChecked: number
  /** Messages and gaps that applications were given. */
  readonly given: number
  /** Messages that a host or its guest had and the other got, and of which a guest said that a host withheld them. */
  readonly served: number
  readonly blamed: number
  /** Messages of the encrypted stream that its readers opened. */
  readonly opened: number
  readonly traceHash: string
}

/** Lines of a stack that are told. */
const stackLines = 6

/** Runs a world. What would end a process in production is a breach. */
export async function watched(fuzz: FuzzWorld, run: () => Promise<void>): Promise<void> {
  const rejections: unknown[] = []
  const onRejection = (error: unknown): void => void rejections.push(error)
  process.on('unhandledRejection', onRejection)
  try {
    await run()
  } catch (error) {
    fuzz.breaches.report('no process ends', textOf(error))
  }
  // Rejections are told of at the end of a turn.
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', onRejection)
  if (rejections.length > 0) fuzz.breaches.report('no process ends', textOf(rejections[0]))
  for (const { sim } of fuzz.nodes.values()) void sim.node.stop()
  fuzz.sealed?.stream.stop()
}

export function reportOf(world: string, seed: string, fuzz: FuzzWorld): FuzzReport {
  return {
    world,
    seed,
    nodes: fuzz.plan.nodes,
    attackers: fuzz.plan.attackers ?? [],
    breach: fuzz.breaches.first ?? null,
    virtualMs: Math.round(fuzz.nowMs),
    floodsChecked: fuzz.flooding.checked,
    given: fuzz.given,
    served: fuzz.guests?.checked ?? 0,
    blamed: fuzz.guests?.blamed ?? 0,
    opened: fuzz.sealed?.opened ?? 0,
    traceHash: fuzz.traceHash,
  }
}

/** What was thrown, and where. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return (error.stack ?? error.message).split('\n').slice(0, stackLines).join('\n')
}
