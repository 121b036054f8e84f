import {
  compareRefs,
  RareMap,
  type ChainHead,
  type MessageBatch,
  type MessageChain,
  type MessageRef,
  type NodeId,
  type StreamMessage,
} from '@runnel/protocol'
import type { Counters } from '../counters.ts'
import { ChainProgress, type RangeWatch } from './chain-progress.ts'
import { ForgottenChains } from './forgotten-chains.ts'

export interface SeenMessagesLimits {
  readonly maxChains: number
  readonly maxForgottenPublishers: number
  readonly chainLookBackMs: number
  readonly maxGapReachMs: number
  readonly maxLiveAgeMs: number
}

/** Called with missing ranges, and with chains that are forgotten along with theirs. */
interface ChainWatch extends RangeWatch {
  chainForgotten(progress: ChainProgress): void
}

export interface SeenMessagesModules {
  readonly counters: Counters
  readonly watch: ChainWatch
}

/** Of all chains, how many are forgotten at once. */
const forgottenShare = 0.01

type ChainId = Pick<MessageChain, 'publisherId' | 'messageChainId'>

/** How far a chain was received, and related state. */
export interface SeenHead {
  readonly head: ChainHead
  readonly progress: ChainProgress
}

/** The seen messages of one stream part. Chains are created only by `mark`, so only by verified messages. */
export class SeenMessages {
  /** Messages of chains that come from now on are wanted if they were published after it, by the monotonic clock. */
  joinedMs: number
  readonly #limits: SeenMessagesLimits
  readonly #modules: SeenMessagesModules
  readonly #publishers = new RareMap<NodeId, Map<string, ChainProgress>>()
  readonly #forgotten: ForgottenChains
  #chains = 0

  constructor(options: { limits: SeenMessagesLimits; joinedMs: number }, modules: SeenMessagesModules) {
    this.#limits = options.limits
    this.joinedMs = options.joinedMs
    this.#modules = modules
    this.#forgotten = new ForgottenChains(options.limits, modules.counters)
  }

  *[Symbol.iterator](): Iterator<ChainProgress> {
    for (const chains of this.#publishers.values()) yield* chains.values()
  }

  get chains(): number {
    return this.#chains
  }

  /** True when a message of the batch was not marked yet. */
  hasNew(batch: MessageBatch): boolean {
    const progress = this.find(batch.chain)
    if (progress === undefined) return true
    const { messages } = batch
    for (let i = messages.length - 1; i >= 0; i--) {
      if (progress.isNew(messages[i] as StreamMessage)) return true
    }
    return false
  }

  /**
   * Why something new from a neighbour must be dropped all the same: it is too old to be live and fills no gap, or its chain
   * was forgotten and may have included it.
   */
  refusalOf({ chain, messages }: MessageBatch, wallMs: number): 'data.tooOld' | 'data.forgotten' | undefined {
    const progress = this.find(chain)
    const newest = progress?.newest ?? this.#forgotten.floorOf(chain.publisherId)
    if (progress === undefined && newest !== undefined && !isAfter(messages.at(-1), newest))
      return 'data.forgotten'
    const oldestMs = wallMs - this.#limits.maxLiveAgeMs
    const [first] = messages
    if (first === undefined || first.timestamp >= oldestMs) return undefined
    // What is not after the newest is in an open gap, or seen.
    const ahead = newest === undefined ? first : messages.find((message) => isAfter(message, newest))
    return ahead !== undefined && ahead.timestamp < oldestMs ? 'data.tooOld' : undefined
  }

  /** Marks the batch, which a neighbour sent unless `from` is undefined, and returns its new messages. */
  mark(batch: MessageBatch, from: NodeId | undefined, nowMs: number): readonly StreamMessage[] {
    const progress =
      this.find(batch.chain) ?? this.#add(batch.chain, this.#forgotten.floorOf(batch.chain.publisherId))
    const { newest } = progress
    progress.lastUsedMs = nowMs
    const fresh: StreamMessage[] = []
    for (const message of batch.messages) {
      if (!progress.isNew(message)) continue
      progress.mark(message, nowMs)
      fresh.push(message)
    }
    if (progress.newest !== newest) progress.holders.reset(from)
    return fresh
  }

  /** This process publishes the chain: it is not forgotten. */
  own(chain: MessageChain): void {
    const progress = this.find(chain) ?? this.#add(chain, undefined)
    progress.isOwn = true
  }

  /**
   * Takes over how far chains were received, including forgotten ones, and nothing else: what is missing before that is
   * not looked for.
   */
  resume(other: SeenMessages, nowMs: number): void {
    this.#forgotten.resume(other.#forgotten)
    for (const { head, progress } of other.heads().reverse()) {
      const own = this.#add(progress.chain, undefined)
      own.lastUsedMs = progress.lastUsedMs
      own.isOwn = progress.isOwn
      own.mark({ timestamp: head.timestamp, sequenceNumber: head.sequenceNumber, previous: undefined }, nowMs)
    }
  }

  /** A neighbour has proven that it has everything up to here. */
  shown(peerId: NodeId, chain: ChainId, place: MessageRef): void {
    const progress = this.find(chain)
    if (progress?.newest !== undefined && compareRefs(place, progress.newest) === 0)
      progress.holders.add(peerId)
  }

  /** A former neighbour may come back without what it had. */
  neighbourGone(peerId: NodeId): void {
    for (const { holders } of this) holders.delete(peerId)
  }

  /** How far all chains were received, the latest first. */
  heads(): SeenHead[] {
    const byUse = (a: SeenHead, b: SeenHead): number =>
      b.progress.lastUsedMs - a.progress.lastUsedMs || compareRefs(b.head, a.head)
    return [...this].flatMap(headOf).sort(byUse)
  }

  find(chain: ChainId): ChainProgress | undefined {
    return this.#publishers.get(chain.publisherId)?.get(chain.messageChainId)
  }

  #add(chain: MessageChain, floor: MessageRef | undefined): ChainProgress {
    if (this.#chains >= this.#limits.maxChains) this.#forgetSome()
    let chains = this.#publishers.get(chain.publisherId)
    if (chains === undefined) {
      chains = new Map()
      this.#publishers.set(chain.publisherId, chains)
    }
    const { chainLookBackMs, maxGapReachMs } = this.#limits
    const progress = new ChainProgress(
      { chain, joinedMs: this.joinedMs, chainLookBackMs, maxGapReachMs, floor },
      this.#modules.watch,
    )
    chains.set(chain.messageChainId, progress)
    this.#chains++
    return progress
  }

  /**
   * Evicts the least recently used chains of the publisher with the most, so that a publisher with many evicts its own; several at once, as
   * finding them takes a look at all, but never so many that another publisher has more: of those that have equally many, one of each.
   * `Shares` would refuse newcomers when all have equally many; where anybody may publish, they are let in.
   */
  #forgetSome(): void {
    let [most, second] = [0, 0]
    let heaviest: ChainProgress[][] = []
    for (const chains of this.#publishers.values()) {
      const others = [...chains.values()].filter(({ isOwn }) => !isOwn)
      if (others.length > most) [second, most, heaviest] = [most, others.length, [others]]
      else if (others.length === most) heaviest.push(others)
      else second = Math.max(second, others.length)
    }
    const lead = heaviest.length === 1 ? most - second : 1
    const count = Math.max(1, Math.floor(this.#limits.maxChains * forgottenShare))
    const byUse = (a: ChainProgress, b: ChainProgress): number => a.lastUsedMs - b.lastUsedMs
    const oldest = heaviest.flatMap((chains) => chains.sort(byUse).slice(0, lead)).sort(byUse)
    for (const progress of oldest.slice(0, count)) this.#forget(progress)
  }

  #forget(progress: ChainProgress): void {
    const { publisherId, messageChainId } = progress.chain
    const chains = this.#publishers.get(publisherId)
    this.#modules.watch.chainForgotten(progress)
    chains?.delete(messageChainId)
    if (chains?.size === 0) this.#publishers.delete(publisherId)
    this.#chains--
    if (progress.newest !== undefined) this.#forgotten.add(publisherId, progress.newest)
    this.#modules.counters['dedup.chainsDropped']++
  }
}

/** None of a chain of which nothing was seen yet. */
export function headOf(progress: ChainProgress): readonly [SeenHead] | readonly [] {
  const { newest, chain } = progress
  if (newest === undefined) return []
  const { publisherId, messageChainId } = chain
  return [{ head: { publisherId, messageChainId, ...newest }, progress }]
}

function isAfter(message: MessageRef | undefined, place: MessageRef): boolean {
  return message !== undefined && compareRefs(message, place) > 0
}
