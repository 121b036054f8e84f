import {
  compareRefs,
  decodeBatch,
  firstIndex,
  placeOf,
  type DelegationRef,
  type MessageBatch,
  type MessageChain,
  type MessageRef,
  type MissingRange,
} from '@runnel/protocol'

/** A recent batch: its packet, and the fields that are needed often. The rest is decoded again on demand. */
export interface KeptBatch {
  readonly receivedMs: number
  readonly chain: MessageChain
  /** Replaced when another batch counts in place of this one. */
  packet: Uint8Array
  /** Bytes of the packet before the batch. */
  packetHeaderBytes: number
  /** Length of the header of the batch, which says its chain. */
  batchHeaderBytes: number
  /** Places of its first and its last message. */
  first: MessageRef
  last: MessageRef
  /** Its publisher was proven to have signed something else for the same place. */
  isContradicted: boolean
  /** This node published it while it had no neighbour. */
  readonly isAlone: boolean
  /** Under which delegation it is signed; undefined where its publisher signed it. */
  delegationRef: DelegationRef | undefined
}

/** The range of a batch, without references to the rest of the object. */
export function placesOf(
  { bytes, headerEnd: batchHeaderBytes, messages, delegationRef }: MessageBatch,
  packet: Uint8Array,
): Pick<KeptBatch, 'packet' | 'packetHeaderBytes' | 'batchHeaderBytes' | 'first' | 'last' | 'delegationRef'> {
  const first = placeOf(messages[0] as MessageRef)
  const last = messages.length === 1 ? first : placeOf(messages.at(-1) as MessageRef)
  const packetHeaderBytes = packet.length - bytes.length
  return { packet, packetHeaderBytes, batchHeaderBytes, first, last, delegationRef }
}

export function decodeKept({
  packet,
  packetHeaderBytes,
}: Pick<KeptBatch, 'packet' | 'packetHeaderBytes'>): MessageBatch {
  return decodeBatch(packet.subarray(packetHeaderBytes))
}

/** The kept batches of one chain, ascending by their first messages. Most are added and removed in this order. */
export class ChainBatches {
  #kept: (KeptBatch | undefined)[] = []
  /** Those before this index were deleted. */
  #start = 0
  /** Some had places of others: their publisher signed two messages for one. */
  #overlap = false

  get size(): number {
    return this.#kept.length - this.#start
  }

  *[Symbol.iterator](): IterableIterator<KeptBatch> {
    for (let i = this.#start; i < this.#kept.length; i++) yield this.#kept[i] as KeptBatch
  }

  add(kept: KeptBatch): void {
    const at = this.#firstAfter(kept.first)
    const [before, behind] = [at > this.#start ? this.#kept[at - 1] : undefined, this.#kept[at]]
    this.#overlap ||= before !== undefined && compareRefs(before.last, kept.first) >= 0
    this.#overlap ||= behind !== undefined && compareRefs(behind.first, kept.last) <= 0
    if (at === this.#kept.length) this.#kept.push(kept)
    else this.#kept.splice(at, 0, kept)
  }

  delete(kept: KeptBatch): void {
    if (this.#kept[this.#start] === kept) {
      this.#kept[this.#start] = undefined
      // Shifting an array moves all of it, so the deleted half is removed in one go.
      if (++this.#start * 2 < this.#kept.length) return
      this.#kept = this.#kept.slice(this.#start)
      this.#start = 0
      return
    }
    for (let i = this.#firstAfter(kept.first) - 1; i >= this.#start; i--) {
      if (this.#kept[i] !== kept) continue
      this.#kept.splice(i, 1)
      return
    }
  }

  /** The last kept batch that overlaps the range from one place to another; logarithmic. */
  lastOverlapping(first: MessageRef, last: MessageRef): KeptBatch | undefined {
    const kept = this.#kept[this.#firstAfter(last) - 1]
    return kept !== undefined && compareRefs(kept.last, first) >= 0 ? kept : undefined
  }

  /** All kept batches that overlap it. */
  overlapping(first: MessageRef, last: MessageRef): readonly KeptBatch[] {
    const found: KeptBatch[] = []
    for (let i = this.#firstAfter(last) - 1; i >= this.#start; i--) {
      const kept = this.#kept[i] as KeptBatch
      if (compareRefs(kept.last, first) < 0) break
      found.push(kept)
    }
    return found
  }

  /** The kept batches with messages in the ranges, which are in order; each once, in order. Those that are not taken cost nothing, unless some overlap. */
  *reachingInto(ranges: readonly MissingRange[]): IterableIterator<KeptBatch> {
    if (this.#overlap) {
      for (const kept of this) if (reachesInto(kept, ranges)) yield kept
      return
    }
    let next = this.#start
    for (const { after, upTo } of ranges) {
      let at = Math.max(next, this.#firstAfter(after) - 1)
      for (; at < this.#kept.length; at++) {
        const kept = this.#kept[at] as KeptBatch
        if (compareRefs(kept.first, upTo) > 0) break
        if (compareRefs(kept.last, after) > 0) yield kept
      }
      next = at
    }
  }

  /** The index of the first that begins after a place. */
  #firstAfter(place: MessageRef): number {
    // Mostly the newest is meant.
    const end = this.#kept.length
    if (end > this.#start && compareRefs((this.#kept[end - 1] as KeptBatch).first, place) <= 0) return end
    return firstIndex(this.#kept, (kept) => compareRefs((kept as KeptBatch).first, place) > 0, this.#start)
  }
}

/**
 * True when one of the ranges, which are in order, lies in part between the first and the last message. These follow each other
 * directly, so a node that misses something in between misses one of them.
 */
function reachesInto({ first, last }: KeptBatch, ranges: readonly MissingRange[]): boolean {
  const range = ranges[firstIndex(ranges, ({ upTo }) => compareRefs(upTo, first) >= 0)]
  return range !== undefined && compareRefs(range.after, last) < 0
}
