import {
  compareRefs,
  decodeBatch,
  placeOf,
  type MessageBatch,
  type MessageChain,
  type MessageRef,
} from '@runnel/protocol'

/** A batch that came lately: its packet, and what is asked of it often. What else it says is decoded again. */
export interface KeptBatch {
  readonly receivedMs: number
  readonly chain: MessageChain
  /** Another one takes its place when it counts in place of this. */
  packet: Uint8Array
  /** Bytes of the packet before the batch. */
  headerBytes: number
  /** Places of its first and its last message. */
  first: MessageRef
  last: MessageRef
  /** Its publisher was seen to have signed something else for the same place. */
  isContradicted: boolean
}

/** Where a batch is and where it reaches, without what else the object holds. */
export function placesOf(
  { bytes, messages }: MessageBatch,
  packet: Uint8Array,
): Pick<KeptBatch, 'packet' | 'headerBytes' | 'first' | 'last'> {
  const first = placeOf(messages[0] as MessageRef)
  const last = messages.length === 1 ? first : placeOf(messages.at(-1) as MessageRef)
  return { packet, headerBytes: packet.length - bytes.length, first, last }
}

export function decodeKept({ packet, headerBytes }: Pick<KeptBatch, 'packet' | 'headerBytes'>): MessageBatch {
  return decodeBatch(packet.subarray(headerBytes))
}

/** The batches of one chain that are kept, ascending by their first messages. Most come and go in this order. */
export class ChainBatches {
  #kept: (KeptBatch | undefined)[] = []
  /** Those before were deleted. */
  #start = 0

  get size(): number {
    return this.#kept.length - this.#start
  }

  *[Symbol.iterator](): IterableIterator<KeptBatch> {
    for (let i = this.#start; i < this.#kept.length; i++) yield this.#kept[i] as KeptBatch
  }

  add(kept: KeptBatch): void {
    const at = this.#firstAfter(kept.first)
    if (at === this.#kept.length) this.#kept.push(kept)
    else this.#kept.splice(at, 0, kept)
  }

  delete(kept: KeptBatch): void {
    if (this.#kept[this.#start] === kept) {
      this.#kept[this.#start] = undefined
      // Shifting an array moves all of it: the deleted half goes at once.
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

  /** What is kept and reaches last into the stretch from one place to another; logarithmic. */
  lastOverlapping(first: MessageRef, last: MessageRef): KeptBatch | undefined {
    const kept = this.#kept[this.#firstAfter(last) - 1]
    return kept !== undefined && compareRefs(kept.last, first) >= 0 ? kept : undefined
  }

  /** All that do. */
  overlapping(first: MessageRef, last: MessageRef): readonly KeptBatch[] {
    const found: KeptBatch[] = []
    for (let i = this.#firstAfter(last) - 1; i >= this.#start; i--) {
      const kept = this.#kept[i] as KeptBatch
      if (compareRefs(kept.last, first) < 0) break
      found.push(kept)
    }
    return found
  }

  /** The index of the first that begins after a place. */
  #firstAfter(place: MessageRef): number {
    let high = this.#kept.length
    let low = this.#start
    // Mostly it is about the newest.
    if (high > low && compareRefs((this.#kept[high - 1] as KeptBatch).first, place) <= 0) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareRefs((this.#kept[middle] as KeptBatch).first, place) <= 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
