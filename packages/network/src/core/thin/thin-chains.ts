import type { MessageBatch, MessageChain, NodeId } from '@runnel/protocol'
import type { ChainProgress } from '../dedup/chain-progress.ts'
import type { StreamPart } from '../stream-part/stream-part.ts'
import { AnnouncedBatches } from './announced-batches.ts'
import { chainIdOf } from './asked.ts'
import { ChainTable } from './chain-table.ts'
import { ChainWays, type ChainWaysLimits } from './chain-ways.ts'
import { Lateness } from '../lateness.ts'
import { Pace } from './pace.ts'

export interface ThinChainsLimits extends ChainWaysLimits {
  readonly thinFromPerS: number
  readonly maxThinChains: number
  readonly maxThinChainsOfPublisher: number
  readonly maxAnnounced: number
  readonly maxThinLateMs: number
  readonly minPushWaitMs: number
  readonly maxPushWaitMs: number
}

/** What this node does about the ways of one chain. */
export interface ThinChain {
  readonly part: StreamPart
  readonly progress: ChainProgress
  readonly id: Pick<MessageChain, 'publisherId' | 'messageChainId'>
  readonly ways: ChainWays
  readonly announced: AnnouncedBatches
  /** How long after it was announced a batch comes. */
  readonly lateness: Lateness
  /** Names it in digests, and stands for the header of its batches. */
  readonly alias: number
  readonly header: Uint8Array
  /** Until when neighbours know it by that. */
  readonly knownUntilMs: Map<NodeId, number>
}

/** Used until it is known how long after their announcement batches come. */
const unknownLatenessMs = 100

/** The chains whose floods this node thins, a bounded number, and how fast chains are. */
export class ThinChains implements Iterable<ThinChain> {
  readonly #limits: ThinChainsLimits
  readonly #paces = new WeakMap<ChainProgress, Pace>()
  readonly #chains: ChainTable<ChainProgress, ThinChain>

  constructor(limits: ThinChainsLimits, random: () => number) {
    this.#limits = limits
    const { maxThinChains: maxChains, maxThinChainsOfPublisher: maxChainsOfPublisher } = limits
    this.#chains = new ChainTable({ maxChains, maxChainsOfPublisher }, random)
  }

  get size(): number {
    return this.#chains.size
  }

  [Symbol.iterator](): IterableIterator<ThinChain> {
    return this.#chains[Symbol.iterator]()
  }

  find(progress: ChainProgress): ThinChain | undefined {
    return this.#chains.find(progress)
  }

  byAlias(alias: number): ThinChain | undefined {
    return this.#chains.byAlias(alias)
  }

  paceOf(progress: ChainProgress): Pace {
    let pace = this.#paces.get(progress)
    if (pace === undefined) this.#paces.set(progress, (pace = new Pace(this.#limits.thinFromPerS)))
    return pace
  }

  /** Undefined when there are too many, of all or of its publisher, or what is missing of the stream part is not fetched. */
  add(part: StreamPart, progress: ChainProgress, batch: MessageBatch): ThinChain | undefined {
    if (!part.gaps.fillGaps) return undefined
    return this.#chains.add(progress, progress.chain.publisherId, (alias) => ({
      ...{ part, progress, id: chainIdOf(progress.chain), alias, lateness: new Lateness() },
      ways: new ChainWays(this.#limits),
      announced: new AnnouncedBatches(this.#limits.maxAnnounced),
      header: batch.bytes.slice(0, batch.headerEnd),
      knownUntilMs: new Map(),
    }))
  }

  forget({ progress }: ThinChain): void {
    this.#chains.forget(progress)
  }

  /** How late a batch usually is at most after it was announced. */
  usualMs({ lateness }: ThinChain): number {
    const { minPushWaitMs, maxPushWaitMs } = this.#limits
    return Math.ceil(Math.min(maxPushWaitMs, Math.max(minPushWaitMs, lateness.boundMs ?? unknownLatenessMs)))
  }

  /** Where links are so full that batches come long after they were announced, only a full flood finds every way there is. */
  isInTime({ lateness }: ThinChain): boolean {
    return (lateness.boundMs ?? 0) <= this.#limits.maxThinLateMs
  }
}
