import {
  compareRefs,
  contradictionOf,
  isSameSignature,
  RareMap,
  type Attach,
  type ChainHead,
  type Contradiction,
  type Fetch,
  type MessageBatch,
  type MessageChain,
  type MessageRef,
  type NodeId,
} from '@runnel/protocol'
import type { Counters } from '../counters.ts'
import type { SharedBytes, SharingTable } from '../shared-bytes.ts'
import { ChainBatches, decodeKept, placesOf, type KeptBatch } from './chain-batches.ts'

type ChainId = Pick<MessageChain, 'publisherId' | 'messageChainId'>

export interface RecentBatchesLimits {
  readonly maxRecentBatches: number
  readonly maxRecentBytes: number
  readonly maxRecentAgeMs: number
  readonly maxReplayBytes: number
  readonly maxFetchReplyBytes: number
  readonly replayMarginMs: number
  readonly maxAloneAgeMs: number
}

/** A kept batch, and another one that contradicts it. */
export interface KeptContradiction {
  readonly kept: KeptBatch
  readonly contradiction: Contradiction
}

const none: readonly KeptContradiction[] = []

/** The recent batches of one stream part: for neighbours that attach or miss something, and to detect contradictions. */
export class RecentBatches implements SharingTable {
  readonly #limits: RecentBatchesLimits
  readonly #shared: SharedBytes
  readonly #counters: Counters
  #entries: (KeptBatch | undefined)[] = []
  /** Entries before this index are removed; the array is cut when there are many. */
  #first = 0
  readonly #chains = new RareMap<NodeId, Map<string, ChainBatches>>()
  #bytes = 0

  constructor(limits: RecentBatchesLimits, modules: { shared: SharedBytes; counters: Counters }) {
    this.#limits = limits
    this.#shared = modules.shared
    this.#counters = modules.counters
  }

  get size(): number {
    return this.#entries.length - this.#first
  }

  get bytes(): number {
    return this.#bytes
  }

  /** When the oldest entry expires. */
  get dueMs(): number {
    const oldest = this.#entries[this.#first]
    return oldest === undefined ? Infinity : oldest.receivedMs + this.#limits.maxRecentAgeMs
  }

  /** Keeps a batch; `packet` holds the bytes to send again. */
  add(
    batch: MessageBatch,
    packet: Uint8Array,
    nowMs: number,
    { isContradicted = false, isAlone = false }: Partial<Pick<KeptBatch, 'isContradicted' | 'isAlone'>> = {},
  ): void {
    this.forgetOld(nowMs)
    const { chain } = batch
    const kept: KeptBatch = { receivedMs: nowMs, chain, isContradicted, isAlone, ...placesOf(batch, packet) }
    this.#entries.push(kept)
    this.#chainOf(chain).add(kept)
    this.#grow(packet.length)
    this.#limit()
  }

  /** The kept batches that contradict one that came again. Cheap when that batch is itself kept. */
  contradictions(batch: MessageBatch): readonly KeptContradiction[] {
    const ofChain = this.#find(batch.chain)
    const [first, last] = [batch.messages[0], batch.messages.at(-1)]
    if (ofChain === undefined || first === undefined || last === undefined) return none
    const newest = ofChain.lastOverlapping(first, last)
    if (newest === undefined || isSameSignature(newest.packet, batch.bytes)) return none
    const overlapping = ofChain.overlapping(first, last)
    if (overlapping.some(({ packet }) => isSameSignature(packet, batch.bytes))) return none
    return overlapping.flatMap((kept) => {
      const contradiction = contradictionOf(decodeKept(kept), batch)
      return contradiction === undefined ? [] : [{ kept, contradiction }]
    })
  }

  /** The kept batch with this place, or the range that it lies in. */
  at(chain: ChainId, place: MessageRef): KeptBatch | undefined {
    return this.#find(chain)?.lastOverlapping(place, place)
  }

  /** Sends another batch in place of a kept one from now on, to the same peers as that one. */
  replace(kept: KeptBatch, batch: MessageBatch, packet: Uint8Array): void {
    const ofChain = this.#chainOf(batch.chain)
    ofChain.delete(kept)
    this.#grow(packet.length - kept.packet.length)
    ofChain.add(Object.assign(kept, placesOf(batch, packet)))
    this.#limit()
  }

  /** Drops the oldest, as there are too many in this stream part, or in all. */
  makeRoom(): void {
    this.#dropFirst()
    this.#counters['recent.dropped']++
  }

  forgetOld(nowMs: number): void {
    while (this.dueMs <= nowMs) this.#dropFirst()
  }

  clear(): void {
    while (this.size > 0) this.#dropFirst()
  }

  /** The batches a newly attached neighbour asks for, of the chains it may be sent, oldest first. */
  replayFor(
    attach: Pick<Attach, 'sinceMs' | 'heads'>,
    nowMs: number,
    isSent: (chain: MessageChain) => boolean = () => true,
  ): KeptBatch[] {
    if (attach.sinceMs === 0) return []
    const ageMs = Math.min(attach.sinceMs + this.#limits.replayMarginMs, this.#limits.maxRecentAgeMs)
    const aloneAgeMs = Math.max(ageMs, this.#limits.maxAloneAgeMs)
    const heads = headsByChain(attach.heads)
    const batches: KeptBatch[] = []
    let bytes = 0
    for (let i = this.#entries.length - 1; i >= this.#first; i--) {
      const kept = this.#entries[i] as KeptBatch
      const { receivedMs, chain, last, packet, isAlone } = kept
      if (receivedMs < nowMs - aloneAgeMs) break
      if (receivedMs < nowMs - ageMs && !isAlone) continue
      if (!isSent(chain) || isBehind(chain, last, heads)) continue
      bytes += packet.length
      if (bytes > this.#limits.maxReplayBytes) {
        this.#counters['replay.truncated']++
        break
      }
      batches.push(kept)
    }
    this.#counters['replay.batches'] += batches.length
    return batches.reverse()
  }

  /** The batches with messages in the ranges, in order; not complete when they are too large for one answer. */
  find(fetch: ChainId & Pick<Fetch, 'ranges'>): {
    readonly batches: readonly KeptBatch[]
    readonly complete: boolean
  } {
    const batches: KeptBatch[] = []
    let bytes = 0
    for (const kept of this.#find(fetch)?.reachingInto(fetch.ranges) ?? []) {
      bytes += kept.packet.length
      // One that is too large by itself must be sent all the same.
      if (bytes > this.#limits.maxFetchReplyBytes && batches.length > 0) return { batches, complete: false }
      batches.push(kept)
    }
    return { batches, complete: true }
  }

  #isOver(): boolean {
    if (this.size === 0) return false
    const { maxRecentBatches, maxRecentBytes } = this.#limits
    return this.size > maxRecentBatches || this.#bytes > maxRecentBytes
  }

  #limit(): void {
    while (this.#isOver()) this.makeRoom()
    this.#shared.limit()
  }

  #find({ publisherId, messageChainId }: ChainId): ChainBatches | undefined {
    return this.#chains.get(publisherId)?.get(messageChainId)
  }

  #chainOf({ publisherId, messageChainId }: ChainId): ChainBatches {
    let chains = this.#chains.get(publisherId)
    if (chains === undefined) this.#chains.set(publisherId, (chains = new Map<string, ChainBatches>()))
    let ofChain = chains.get(messageChainId)
    if (ofChain === undefined) chains.set(messageChainId, (ofChain = new ChainBatches()))
    return ofChain
  }

  #forget(kept: KeptBatch): void {
    const { publisherId, messageChainId } = kept.chain
    const chains = this.#chains.get(publisherId)
    const ofChain = chains?.get(messageChainId)
    ofChain?.delete(kept)
    if (ofChain?.size !== 0) return
    chains?.delete(messageChainId)
    if (chains?.size === 0) this.#chains.delete(publisherId)
  }

  #dropFirst(): void {
    const entry = this.#entries[this.#first]
    this.#entries[this.#first++] = undefined
    if (entry !== undefined) {
      this.#grow(-entry.packet.length)
      this.#forget(entry)
    }
    if (this.#first * 2 < this.#entries.length) return
    this.#entries = this.#entries.slice(this.#first)
    this.#first = 0
  }

  #grow(bytes: number): void {
    this.#bytes += bytes
    this.#shared.grow(this, bytes)
  }
}

type HeadsByChain = ReadonlyMap<NodeId, ReadonlyMap<string, ChainHead>>

function headsByChain(heads: readonly ChainHead[]): HeadsByChain {
  const byChain = new Map<NodeId, Map<string, ChainHead>>()
  for (const head of heads) {
    const ofPublisher = byChain.get(head.publisherId) ?? new Map<string, ChainHead>()
    byChain.set(head.publisherId, ofPublisher.set(head.messageChainId, head))
  }
  return byChain
}

function isBehind(
  { publisherId, messageChainId }: MessageChain,
  last: MessageRef,
  heads: HeadsByChain,
): boolean {
  const head = heads.get(publisherId)?.get(messageChainId)
  return head !== undefined && compareRefs(last, head) <= 0
}
