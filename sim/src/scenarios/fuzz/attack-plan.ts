import { chainOrderLimits } from '@runnel/network'
import type { Random } from '@runnel/protocol'
import type { MakeAttacker } from './attackers/attacker.ts'
import { hoardedParts } from './attackers/keys/hoarded-parts.ts'
import { idleAtNode, idleAtTracker } from './attackers/keys/idle-keys.ts'
import { unknownPublishers } from './attackers/keys/unknown-publishers.ts'
import { aliasLiars } from './attackers/members/alias-liars.ts'
import { falseReports } from './attackers/members/false-reports.ts'
import { phantomNeighbours } from './attackers/members/phantom-neighbours.ts'
import { thinLiars } from './attackers/members/thin-liars.ts'
import { equivocation } from './attackers/publishers/equivocation.ts'
import { extremeFields } from './attackers/publishers/extreme-fields.ts'
import { manyChains } from './attackers/publishers/many-chains.ts'
import { oldBatches } from './attackers/publishers/old-batches.ts'
import { sparseRanges } from './attackers/publishers/sparse-ranges.ts'
import { urgentFlood } from './attackers/publishers/urgent-flood.ts'
import { chance, drawThinning, oneOf, wholeFrom, type FuzzPlan } from './fuzz-plan.ts'

/** All kinds of attackers, by the worlds that they are in. */
const attackersOf = {
  /** They may publish, and sign what they like. */
  publishers: { extremeFields, manyChains, sparseRanges, oldBatches, equivocation, urgentFlood },
  /** They lie to the tracker, or to neighbours. */
  members: { phantomNeighbours, falseReports, thinLiars, aliasLiars },
  /** Many keys, in few networks. */
  keys: { idleAtTracker, idleAtNode, hoardedParts, unknownPublishers },
} as const satisfies Record<string, Record<string, MakeAttacker>>

export type AttackedWorld = keyof typeof attackersOf
export const attackedWorlds = Object.keys(attackersOf) as AttackedWorld[]

export interface AttackPlan extends FuzzPlan {
  readonly attackers: readonly string[]
  /** How long they go on. */
  readonly attackMs: number
}

const attackMs = { publishers: 20_000, members: 40_000, keys: 20_000 }
const publisherLimits = { maxChains: [16, 40, 100], maxMissingRanges: [40, 80] }
const mostAttackers = 2

/** Draws a small world of one kind. */
export function drawAttack(world: AttackedWorld, random: Random): AttackPlan {
  const nodes = wholeFrom(3, 7, random)
  const minMs = wholeFrom(1, 40, random)
  const attackers = Array.from(
    { length: chance(0.7, random) ? 1 : mostAttackers },
    () => oneOf(Object.keys(attackersOf[world]), random) ?? '',
  )
  const attackersKeys = wholeFrom(30, 100, random)
  return {
    nodes,
    // An attacker forwards nothing, so each node must have honest neighbours as well.
    degree: wholeFrom(mostAttackers + 1, 4, random),
    // Nor is there a tree: its inner nodes have to forward.
    overlay: chance(0.5, random) ? 'random' : 'topology-aware',
    // The last is for nodes that come late.
    streamParts: wholeFrom(2, 3, random),
    freshParts: 1,
    latencies: { minMs, maxMs: minMs + wholeFrom(0, 150, random) },
    jitterMs: chance(0.5, random) ? 0 : wholeFrom(1, 50, random),
    lossRate: 0,
    hostiles: 0,
    looksUp: world === 'keys' || chance(0.2, random),
    limits: {
      ...drawThinning(random.fork('thinning')),
      ...(world === 'publishers'
        ? {
            maxChains: oneOf(publisherLimits.maxChains, random) ?? 0,
            maxMissingRanges: oneOf(publisherLimits.maxMissingRanges, random) ?? 0,
          }
        : { maxHeldPublishers: 6 }),
    },
    answerMs: wholeFrom(100, 800, random),
    orderLimits: chainOrderLimits,
    trackerLimits: world === 'keys' ? { maxNodes: nodes + 25, maxStreamParts: 30 } : {},
    actions: 0,
    attackers,
    attackersKeys,
    attackMs: attackMs[world],
  }
}

export function makeAttacker(world: AttackedWorld, kind: string): MakeAttacker | undefined {
  return (attackersOf[world] as Record<string, MakeAttacker>)[kind]
}
