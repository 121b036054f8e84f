import { chainOrderLimits, type ChainOrderLimits, type NetworkLimits } from '@runnel/network'
import { overlayStrategies, type Random } from '@runnel/protocol'
import type { TrackerLimits } from '@runnel/tracker'
import type { Overlay } from '../../experiments/experiment.ts'
import type { Withholding } from './guests/withholding.ts'

/** The light clients of a world, and who serves them. */
export interface GuestsPlan {
  /** Nodes that serve guests; the first is honest. */
  readonly hosts: number
  readonly guests: number
  /** Hosts that a guest is linked to at once. */
  readonly atOnce: number
  /** What the last hosts keep from their guests. */
  readonly withheld: readonly Withholding[]
  /** Hosts are in a stream part only while a guest wants it. */
  readonly joinsForGuests: boolean
}

/** What a seed's world is like. What happens in it is drawn as it goes. */
export interface FuzzPlan {
  readonly nodes: number
  readonly degree: number
  readonly overlay: Overlay
  readonly streamParts: number
  /** Of these, the ones that are empty at first. Default none. */
  readonly freshParts?: number
  readonly latencies: { readonly minMs: number; readonly maxMs: number }
  readonly jitterMs: number
  /** The part of frames lost until it gets quiet. */
  readonly lossRate: number
  readonly hostiles: number
  /** Kinds of attackers. Default none. */
  readonly attackers?: readonly string[]
  /** Keys that one attacker has, where it is one with many. */
  readonly attackersKeys?: number
  /** Publishers are looked up before their messages are taken. */
  readonly looksUp: boolean
  /** How long that takes, in milliseconds. */
  readonly answerMs?: number
  /** Small limits are met more often. */
  readonly limits: Partial<NetworkLimits>
  readonly trackerLimits?: Partial<TrackerLimits>
  readonly orderLimits: ChainOrderLimits
  /** One more stream part is of an encrypted stream. Default: none is. */
  readonly sealed?: SealedPlan | undefined
  /** Light clients and their hosts. Default: there are none. */
  readonly guests?: GuestsPlan | undefined
  /** Things that happen before it gets quiet. */
  readonly actions: number
}

export interface SealedPlan {
  readonly history: 'all' | 'none'
  /** The first node opens epochs for all. */
  readonly hasHolder: boolean
}

const smallThinning = {
  maxAnnounced: 2,
  maxUnsureBatches: 2,
  maxThinAsks: 2,
  maxThinChains: 2,
  thinLeaseMs: 3_000,
}

/** Keys cost more than anything else: some of the smaller worlds have them. */
const sealedWorlds = { share: 0.3, maxNodes: 8 }

const largest = { nodes: 40, degree: 8, streamParts: 4, hostiles: 3, actions: 24 }

export function drawPlan(random: Random): FuzzPlan {
  const minMs = wholeFrom(1, 40, random)
  const isTight = chance(0.3, random)
  // Small worlds are as strange as large ones, and quicker.
  const nodes = wholeFrom(2, chance(0.8, random) ? 12 : largest.nodes, random)
  return {
    nodes,
    sealed: nodes <= sealedWorlds.maxNodes ? drawSealed(random.fork('sealed')) : undefined,
    degree: wholeFrom(2, largest.degree, random),
    overlay: oneOf(overlayStrategies, random) ?? 'random',
    streamParts: wholeFrom(1, largest.streamParts, random),
    latencies: { minMs, maxMs: minMs + wholeFrom(0, 150, random) },
    jitterMs: chance(0.5, random) ? 0 : wholeFrom(1, 50, random),
    lossRate: chance(0.6, random) ? 0 : random.next() * 0.2,
    hostiles: chance(0.5, random) ? 0 : wholeFrom(1, largest.hostiles, random),
    looksUp: chance(0.5, random),
    limits: {
      ...drawThinning(random.fork('thinning')),
      ...(isTight ? { maxProvisional: 2, maxHeldBatches: 8, maxBans: 2 } : {}),
    },
    orderLimits: isTight ? { ...chainOrderLimits, maxHeldMessages: 8 } : chainOrderLimits,
    actions: wholeFrom(4, largest.actions, random),
  }
}

/** In most worlds few messages are published: floods are thin from lower rates on, and after fewer late copies. */
export function drawThinning(random: Random): Partial<NetworkLimits> {
  if (chance(0.3, random)) return {}
  return {
    thinFromPerS: 0.05,
    thinAfterLate: wholeFrom(1, 3, random),
    ...(chance(0.3, random) && smallThinning),
  }
}

function drawSealed(random: Random): SealedPlan | undefined {
  if (!chance(sealedWorlds.share, random)) return undefined
  const hasHolder = chance(0.3, random)
  return { hasHolder, history: !hasHolder && chance(0.3, random) ? 'none' : 'all' }
}

/** A whole number from `min` to `max`, both possible. */
export function wholeFrom(min: number, max: number, random: Random): number {
  return min + Math.floor(random.next() * (max - min + 1))
}

export function chance(share: number, random: Random): boolean {
  return random.next() < share
}

/** One of them; undefined when there are none. */
export function oneOf<T>(items: Iterable<T>, random: Random): T | undefined {
  const all = [...items]
  return all[Math.floor(random.next() * all.length)]
}
