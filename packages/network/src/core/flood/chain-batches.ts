import { compareRefs, type MessageBatch, type MessageRef } from '@runnel/protocol'

/** A batch that came lately. */
export interface KeptBatch {
  readonly receivedMs: number
  /** Another one takes its place when it counts in place of this. */
  batch: MessageBatch
  packet: Uint8Array
  /** Its publisher was seen to have signed something else for the same place. */
  isContradicted: boolean
}

/** The batches of one chain that are kept, ascending by their first messages. Most come and go in this order. */
export class ChainBatches {
  #kept: KeptBatch[] = []
  /** Those before were deleted. */
  #start = 0

  get size(): number {
    return this.#kept.length - this.#start
  }

  *[Symbol.iterator](): IterableIterator<KeptBatch> {
    for (let i = this.#start; i < this.#kept.length; i++) yield this.#kept[i] as KeptBatch
  }

  add(kept: KeptBatch): void {
    const at = this.#firstAfter(firstOf(kept))
    if (at === this.#kept.length) this.#kept.push(kept)
    else this.#kept.splice(at, 0, kept)
  }

  delete(kept: KeptBatch): void {
    if (this.#kept[this.#start] === kept) {
      // Shifting an array moves all of it: the deleted half goes at once.
      if (++this.#start * 2 < this.#kept.length) return
      this.#kept = this.#kept.slice(this.#start)
      this.#start = 0
      return
    }
    for (let i = this.#firstAfter(firstOf(kept)) - 1; i >= this.#start; i--) {
      if (this.#kept[i] !== kept) continue
      this.#kept.splice(i, 1)
      return
    }
  }

  /** What is kept and reaches last into the stretch of places that a batch covers; logarithmic. */
  lastOverlapping(batch: MessageBatch): KeptBatch | undefined {
    const kept = this.#kept[this.#firstAfter(lastOf({ batch })) - 1]
    return kept !== undefined && compareRefs(lastOf(kept), firstOf({ batch })) >= 0 ? kept : undefined
  }

  /** All that do. */
  overlapping(batch: MessageBatch): readonly KeptBatch[] {
    const found: KeptBatch[] = []
    for (let i = this.#firstAfter(lastOf({ batch })) - 1; i >= this.#start; i--) {
      const kept = this.#kept[i] as KeptBatch
      if (compareRefs(lastOf(kept), firstOf({ batch })) < 0) break
      found.push(kept)
    }
    return found
  }

  /** The index of the first that begins after a place. */
  #firstAfter(place: MessageRef): number {
    let high = this.#kept.length
    let low = this.#start
    // Mostly it is about the newest.
    if (high > low && compareRefs(firstOf(this.#kept[high - 1] as KeptBatch), place) <= 0) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareRefs(firstOf(this.#kept[middle] as KeptBatch), place) <= 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

function firstOf({ batch }: Pick<KeptBatch, 'batch'>): MessageRef {
  return batch.messages[0] as MessageRef
}

function lastOf({ batch }: Pick<KeptBatch, 'batch'>): MessageRef {
  return batch.messages.at(-1) as MessageRef
}
