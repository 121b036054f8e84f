import {
  compareRefs,
  type ChainHead,
  type MessageBatch,
  type MessageChain,
  type MessageRef,
  type NodeId,
  type StreamMessage,
} from '@runnel/protocol'
import type { Counters } from '../counters.ts'
import { ChainProgress, type RangeWatch } from './chain-progress.ts'

export interface SeenMessagesLimits {
  readonly maxChains: number
  readonly maxMissingRanges: number
  readonly chainLookBackMs: number
}

export interface SeenMessagesModules {
  readonly counters: Counters
  /** Hears of missing ranges. */
  readonly watch: RangeWatch
}

type ChainId = Pick<MessageChain, 'publisherId' | 'messageChainId'>

/** How far a chain was received, and what else is known of it. */
export interface SeenHead {
  readonly head: ChainHead
  readonly progress: ChainProgress
}

/** Which messages of one stream part were seen. Chains come to be only by `mark`, that is by verified messages. */
export class SeenMessages {
  readonly #limits: SeenMessagesLimits
  readonly #joinedMs: number
  readonly #modules: SeenMessagesModules
  readonly #publishers = new Map<NodeId, Map<string, ChainProgress>>()
  #chains = 0

  constructor(options: { limits: SeenMessagesLimits; joinedMs: number }, modules: SeenMessagesModules) {
    this.#limits = options.limits
    this.#joinedMs = options.joinedMs
    this.#modules = modules
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

  /** Marks the batch, which a neighbour sent unless `from` is undefined, and returns those of its messages that were new. */
  mark(batch: MessageBatch, from: NodeId | undefined, nowMs: number): readonly StreamMessage[] {
    const progress = this.find(batch.chain) ?? this.#add(batch.chain)
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

  /** Takes over how far chains were received there, and nothing else: what is missing before that is not looked for. */
  resume(other: SeenMessages, nowMs: number): void {
    for (const { head, progress } of other.heads().reverse()) {
      const own = this.#add(progress.chain)
      own.lastUsedMs = progress.lastUsedMs
      own.mark({ timestamp: head.timestamp, sequenceNumber: head.sequenceNumber, previous: undefined }, nowMs)
    }
  }

  /** A neighbour has shown that it got so far. */
  shown(peerId: NodeId, chain: ChainId, place: MessageRef): void {
    const progress = this.find(chain)
    if (progress?.newest !== undefined && compareRefs(place, progress.newest) === 0)
      progress.holders.add(peerId)
  }

  /** One who was a neighbour may come back without what it had. */
  neighbourGone(peerId: NodeId): void {
    for (const chains of this.#publishers.values())
      for (const { holders } of chains.values()) holders.delete(peerId)
  }

  /** How far chains were received that are as asked, the latest first. */
  heads(isAsked: (progress: ChainProgress) => boolean = () => true): SeenHead[] {
    const all: SeenHead[] = []
    for (const [publisherId, chains] of this.#publishers) {
      for (const [messageChainId, progress] of chains) {
        if (progress.newest === undefined || !isAsked(progress)) continue
        all.push({ head: { publisherId, messageChainId, ...progress.newest }, progress })
      }
    }
    return all.sort((a, b) => b.progress.lastUsedMs - a.progress.lastUsedMs || compareRefs(b.head, a.head))
  }

  find(chain: ChainId): ChainProgress | undefined {
    return this.#publishers.get(chain.publisherId)?.get(chain.messageChainId)
  }

  #add(chain: MessageChain): ChainProgress {
    if (this.#chains >= this.#limits.maxChains) this.#forgetOldest()
    let chains = this.#publishers.get(chain.publisherId)
    if (chains === undefined) {
      chains = new Map()
      this.#publishers.set(chain.publisherId, chains)
    }
    const { maxMissingRanges, chainLookBackMs } = this.#limits
    const progress = new ChainProgress(
      { chain, joinedMs: this.#joinedMs, maxMissingRanges, chainLookBackMs },
      this.#modules.watch,
    )
    chains.set(chain.messageChainId, progress)
    this.#chains++
    return progress
  }

  /** Linear, but only a chain's first message pays it, after a signature check that costs more. */
  #forgetOldest(): void {
    let oldest: { publisherId: NodeId; messageChainId: string; usedMs: number } | undefined
    for (const [publisherId, chains] of this.#publishers) {
      for (const [messageChainId, progress] of chains) {
        if (oldest !== undefined && progress.lastUsedMs >= oldest.usedMs) continue
        oldest = { publisherId, messageChainId, usedMs: progress.lastUsedMs }
      }
    }
    if (oldest === undefined) return
    const chains = this.#publishers.get(oldest.publisherId)
    const progress = chains?.get(oldest.messageChainId)
    for (const range of progress?.missing ?? []) if (progress) this.#modules.watch.dropped(progress, range)
    chains?.delete(oldest.messageChainId)
    if (chains?.size === 0) this.#publishers.delete(oldest.publisherId)
    this.#chains--
    this.#modules.counters['dedup.chainsDropped']++
  }
}
