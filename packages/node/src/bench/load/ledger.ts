import { Sequence, type SequenceCounts } from '../core/sequence.ts'
import type { Stamp } from '../core/stamp.ts'

/** Pairs of reader and publisher that are followed; for others, arrivals are only counted. */
const maxSequences = 200_000

/** What the users of one process were sent. */
export class Ledger {
  readonly counts: SequenceCounts = { received: 0, duplicates: 0, disordered: 0 }
  readonly #sequences = new Map<string, Sequence>()

  /** Takes a message that came to a reader. Returns whether it is new there. */
  take(reader: number, { sender, user, flow, count }: Stamp): boolean {
    const key = `${reader} ${sender} ${user} ${flow}`
    let sequence = this.#sequences.get(key)
    if (sequence === undefined && this.#sequences.size < maxSequences) {
      sequence = new Sequence()
      this.#sequences.set(key, sequence)
    }
    if (sequence !== undefined) return sequence.take(count, this.counts)
    this.counts.received++
    return true
  }

  /** Messages that were published before the first that came of each. */
  get first(): number {
    let first = 0
    for (const sequence of this.#sequences.values()) first += sequence.first
    return first
  }

  /** Messages that did not come, between others that did. */
  get missing(): number {
    let missing = 0
    for (const sequence of this.#sequences.values()) missing += sequence.missing
    return missing
  }
}
