import type { MessageChain, MessageRef, NodeId } from '@runnel/protocol'
import { AnnouncedBatches } from '../thin/announced-batches.ts'
import { chainIdOf } from '../thin/asked.ts'
import { ChainTable } from '../thin/chain-table.ts'
import { ChainWays, type ChainWaysLimits } from '../thin/chain-ways.ts'
import { Lateness } from '../lateness.ts'
import { Misses } from '../thin/misses.ts'
import { Pace } from '../thin/pace.ts'
import type { StreamPart } from '../stream-part/stream-part.ts'

export interface UrgentChainsLimits extends Omit<ChainWaysLimits, 'thinGainMs'> {
  readonly urgentGainMs: number
  readonly urgentThinFromPerS: number
  readonly maxUrgentThinChains: number
  readonly maxThinChainsOfPublisher: number
  readonly maxAnnounced: number
}

/** What this node does about the ways of one chain of urgent messages. */
export interface UrgentChain {
  readonly part: StreamPart
  readonly key: string
  readonly id: Pick<MessageChain, 'publisherId' | 'messageChainId'>
  /** Names it in digests. */
  readonly alias: number
  readonly ways: ChainWays
  readonly announced: AnnouncedBatches
  /** How long after it was announced a message comes. */
  readonly lateness: Lateness
  readonly pace: Pace
  /** What the standby was asked for and did not bring. */
  readonly unserved: Misses
  /** Until when neighbours know it by the alias. */
  readonly knownUntilMs: Map<NodeId, number>
  /** The newest place that came by an eager way. */
  newest: MessageRef | undefined
  usedMs: number
}

/** What tells chains of urgent messages apart. */
export const urgentChainKey = (
  streamPartId: string,
  { publisherId, messageChainId }: Pick<MessageChain, 'publisherId' | 'messageChainId'>,
): string => `${streamPartId} ${publisherId} ${messageChainId}`

/** What tells urgent messages apart, by that of their chain. */
export const urgentPlaceKey = (chainKey: string, { timestamp, sequenceNumber }: MessageRef): string =>
  `${chainKey} ${timestamp}.${sequenceNumber}`

/** The chains of urgent messages whose ways this node knows, a bounded number; all others are flooded in full. */
export class UrgentChains {
  readonly #limits: UrgentChainsLimits
  readonly #chains: ChainTable<string, UrgentChain>

  constructor(limits: UrgentChainsLimits, random: () => number) {
    this.#limits = limits
    const { maxUrgentThinChains: maxChains, maxThinChainsOfPublisher: maxChainsOfPublisher } = limits
    this.#chains = new ChainTable({ maxChains, maxChainsOfPublisher }, random)
  }

  get size(): number {
    return this.#chains.size
  }

  [Symbol.iterator](): IterableIterator<UrgentChain> {
    return this.#chains[Symbol.iterator]()
  }

  find(key: string): UrgentChain | undefined {
    return this.#chains.find(key)
  }

  byAlias(alias: number): UrgentChain | undefined {
    return this.#chains.byAlias(alias)
  }

  /** Undefined when there are too many. */
  of(part: StreamPart, chain: MessageChain, nowMs: number): UrgentChain | undefined {
    const key = urgentChainKey(part.id, chain)
    const known = this.#chains.find(key)
    if (known !== undefined) known.usedMs = nowMs
    return known ?? this.#add(part, key, chain, nowMs)
  }

  forget({ key }: UrgentChain): void {
    this.#chains.forget(key)
  }

  #add(part: StreamPart, key: string, chain: MessageChain, nowMs: number): UrgentChain | undefined {
    return this.#chains.add(key, chain.publisherId, (alias) => ({
      ...{ part, key, id: chainIdOf(chain), alias, lateness: new Lateness(1 / 4), knownUntilMs: new Map() },
      ways: new ChainWays({ ...this.#limits, thinGainMs: this.#limits.urgentGainMs }),
      announced: new AnnouncedBatches(this.#limits.maxAnnounced),
      pace: new Pace(this.#limits.urgentThinFromPerS),
      unserved: new Misses(),
      ...{ newest: undefined, usedMs: nowMs },
    }))
  }
}
