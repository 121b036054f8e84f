import {
  compareRefs,
  keyTagText,
  placeOf,
  RareMap,
  type DelegationRef,
  type MessageBatch,
  type MessageRef,
  type NodeId,
  type StreamMessage,
} from '@runnel/protocol'
import type { Counters } from '../counters.ts'
import { decodeKept } from '../flood/chain-batches.ts'
import type { SharedBytes, SharingTable } from '../shared-bytes.ts'

export interface LatestBatchesLimits {
  readonly maxLatestKeys: number
  readonly maxLatestBytes: number
  readonly maxRecentAgeMs: number
}

/** A data packet, kept for as long as one of its messages is the newest of its key. */
interface KeptPacket {
  readonly packet: Uint8Array
  /** Bytes of the packet before the batch. */
  readonly packetHeaderBytes: number
  readonly delegationRef: DelegationRef | undefined
  uses: number
}

interface Entry {
  readonly place: MessageRef
  readonly publisherId: NodeId
  readonly kept: KeptPacket
  readonly notedMs: number
}

/** What stands for "of all, with a key or without". */
const ofAll = ''

/**
 * The newest message of each key of one stream part, and of all: by time, then by publisher. Where the stream's owner asks for it they are
 * kept while there is room, those that changed longest ago going first; elsewhere for as long as batches are kept for replay.
 */
export class LatestBatches implements SharingTable {
  /** Whether the stream's owner asks for it. */
  keeps = false
  readonly #limits: LatestBatchesLimits
  readonly #shared: SharedBytes
  readonly #counters: Counters
  /** By the text of the key's tag; those that changed longest ago come first. */
  readonly #entries = new RareMap<string, Entry>()
  #bytes = 0

  constructor(limits: LatestBatchesLimits, modules: { shared: SharedBytes; counters: Counters }) {
    this.#limits = limits
    this.#shared = modules.shared
    this.#counters = modules.counters
  }

  get keys(): number {
    return this.#entries.size
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Takes note of a checked batch; `packet` holds the bytes to send again. */
  note({ messages, bytes, delegationRef }: MessageBatch, packet: Uint8Array, nowMs: number): void {
    this.forgetOld(nowMs)
    const kept = { packet, packetHeaderBytes: packet.length - bytes.length, delegationRef, uses: 0 }
    for (const message of messages) {
      // Most have none.
      const tag = message.extensions === undefined ? ofAll : keyTagText(message)
      if (tag !== ofAll) this.#set(tag, message, kept, nowMs)
    }
    const newest = messages.at(-1)
    if (newest !== undefined) this.#set(ofAll, newest, kept, nowMs)
    while (this.#isOver()) this.makeRoom()
    this.#shared.limit()
  }

  /** Drops what changed longest ago, as there is too much in this stream part, or in all. */
  makeRoom(): void {
    this.#dropFirst()
    this.#counters['latest.dropped']++
  }

  /** The batch with the newest message of a key, by its tag, or of all. */
  find(tag: string | undefined, nowMs: number): MessageBatch | undefined {
    this.forgetOld(nowMs)
    const entry = this.#entries.get(tag ?? ofAll)
    return entry && decodeKept(entry.kept)
  }

  forgetOld(nowMs: number): void {
    if (this.keeps) return
    for (const { notedMs } of this.#entries.values()) {
      if (notedMs + this.#limits.maxRecentAgeMs > nowMs) return
      this.#dropFirst()
    }
  }

  clear(): void {
    while (this.#entries.size > 0) this.#dropFirst()
  }

  #set(tag: string, message: StreamMessage, kept: KeptPacket, nowMs: number): void {
    const before = this.#entries.get(tag)
    if (before !== undefined && !isNewer(message, before)) return
    this.#delete(tag, before)
    if (kept.uses++ === 0) this.#grow(kept.packet.length)
    this.#entries.set(tag, {
      place: placeOf(message),
      publisherId: message.publisherId,
      kept,
      notedMs: nowMs,
    })
  }

  #isOver(): boolean {
    const { maxLatestKeys, maxLatestBytes } = this.#limits
    if (this.#entries.size === 0) return false
    return this.#entries.size > maxLatestKeys || this.#bytes > maxLatestBytes
  }

  #dropFirst(): void {
    for (const [tag, entry] of this.#entries) return this.#delete(tag, entry)
  }

  #delete(tag: string, entry: Entry | undefined): void {
    if (entry === undefined) return
    this.#entries.delete(tag)
    if (--entry.kept.uses === 0) this.#grow(-entry.kept.packet.length)
  }

  #grow(bytes: number): void {
    this.#bytes += bytes
    this.#shared.grow(this, bytes)
  }
}

function isNewer(message: StreamMessage, { place, publisherId }: Entry): boolean {
  const order = compareRefs(message, place)
  return order > 0 || (order === 0 && message.publisherId > publisherId)
}
