import {
  compareRefs,
  type Attach,
  type ChainHead,
  type Fetch,
  type MessageBatch,
  type MessageChain,
  type MessageRef,
  type MissingRange,
} from '@runnel/protocol'
import type { Counters } from '../counters.ts'

export interface RecentBatchesLimits {
  readonly maxRecentBatches: number
  readonly maxRecentBytes: number
  readonly maxRecentBytesTotal: number
  readonly maxRecentAgeMs: number
  readonly maxReplayBytes: number
  readonly maxFetchReplyBytes: number
  readonly replayMarginMs: number
}

/** Bytes kept in all stream parts together. */
export interface RecentBytes {
  total: number
}

interface Entry {
  readonly receivedMs: number
  readonly batch: MessageBatch
  readonly packet: Uint8Array
}

/** The batches of one stream part that came lately, for neighbours that attach. */
export class RecentBatches {
  readonly #limits: RecentBatchesLimits
  readonly #shared: RecentBytes
  readonly #counters: Counters
  #entries: Entry[] = []
  /** Entries before this one are gone; they are cut off when they are many. */
  #first = 0
  #bytes = 0

  constructor(limits: RecentBatchesLimits, modules: { shared: RecentBytes; counters: Counters }) {
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

  /** When the oldest entry is due to be forgotten. */
  get dueMs(): number {
    const oldest = this.#entries[this.#first]
    return oldest === undefined ? Infinity : oldest.receivedMs + this.#limits.maxRecentAgeMs
  }

  /** Keeps a batch; `packet` are the bytes that will be sent again. */
  add(batch: MessageBatch, packet: Uint8Array, nowMs: number): void {
    this.forgetOld(nowMs)
    this.#entries.push({ receivedMs: nowMs, batch, packet })
    this.#grow(packet.length)
    while (this.#isOver()) {
      this.#dropFirst()
      this.#counters['recent.dropped']++
    }
  }

  forgetOld(nowMs: number): void {
    while (this.dueMs <= nowMs) this.#dropFirst()
  }

  clear(): void {
    while (this.size > 0) this.#dropFirst()
  }

  /** The packets a newly attached neighbour asks for, oldest first. */
  replayFor(attach: Pick<Attach, 'sinceMs' | 'heads'>, nowMs: number): Uint8Array[] {
    if (attach.sinceMs === 0) return []
    const ageMs = Math.min(attach.sinceMs + this.#limits.replayMarginMs, this.#limits.maxRecentAgeMs)
    const packets: Uint8Array[] = []
    let bytes = 0
    for (let i = this.#entries.length - 1; i >= this.#first; i--) {
      const { receivedMs, batch, packet } = this.#entries[i] as Entry
      if (receivedMs < nowMs - ageMs) break
      if (isBehind(batch, attach.heads)) continue
      bytes += packet.length
      if (bytes > this.#limits.maxReplayBytes) {
        this.#counters['replay.truncated']++
        break
      }
      packets.push(packet)
    }
    this.#counters['replay.batches'] += packets.length
    return packets.reverse()
  }

  /** The packets with messages in the ranges, oldest first; not complete when they are too large for one answer. */
  find(fetch: Pick<Fetch, 'publisherId' | 'messageChainId' | 'ranges'>): {
    readonly packets: readonly Uint8Array[]
    readonly complete: boolean
  } {
    const packets: Uint8Array[] = []
    let bytes = 0
    for (let i = this.#first; i < this.#entries.length; i++) {
      const { batch, packet } = this.#entries[i] as Entry
      if (!isOf(fetch, batch.chain) || !hasSome(batch, fetch.ranges)) continue
      bytes += packet.length
      // One that is too large by itself must be sent all the same.
      if (bytes > this.#limits.maxFetchReplyBytes && packets.length > 0) return { packets, complete: false }
      packets.push(packet)
    }
    return { packets, complete: true }
  }

  #isOver(): boolean {
    if (this.size === 0) return false
    const { maxRecentBatches, maxRecentBytes, maxRecentBytesTotal } = this.#limits
    return (
      this.size > maxRecentBatches || this.#bytes > maxRecentBytes || this.#shared.total > maxRecentBytesTotal
    )
  }

  #dropFirst(): void {
    const entry = this.#entries[this.#first++]
    if (entry !== undefined) this.#grow(-entry.packet.length)
    if (this.#first * 2 < this.#entries.length) return
    this.#entries = this.#entries.slice(this.#first)
    this.#first = 0
  }

  #grow(bytes: number): void {
    this.#bytes += bytes
    this.#shared.total += bytes
  }
}

function isBehind(batch: MessageBatch, heads: readonly ChainHead[]): boolean {
  const head = heads.find((candidate) => isOf(candidate, batch.chain))
  const last = batch.messages.at(-1)
  return head !== undefined && last !== undefined && compareRefs(last, head) <= 0
}

/** Both are in order, so that one search finds where they may meet. */
function hasSome({ messages }: MessageBatch, ranges: readonly MissingRange[]): boolean {
  const [first, last] = [messages[0], messages.at(-1)]
  if (first === undefined || last === undefined) return false
  let at = firstRangeUpTo(first, ranges)
  for (const message of messages) {
    let range = ranges[at]
    while (range !== undefined && compareRefs(range.upTo, message) < 0) range = ranges[++at]
    if (range === undefined || compareRefs(range.after, last) >= 0) return false
    if (compareRefs(message, range.after) > 0) return true
  }
  return false
}

/** The index of the first range that does not end before a place. */
function firstRangeUpTo(place: MessageRef, ranges: readonly MissingRange[]): number {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareRefs((ranges[middle] as MissingRange).upTo, place) < 0) low = middle + 1
    else high = middle
  }
  return low
}

function isOf(head: Pick<ChainHead, 'publisherId' | 'messageChainId'>, chain: MessageChain): boolean {
  return head.publisherId === chain.publisherId && head.messageChainId === chain.messageChainId
}
