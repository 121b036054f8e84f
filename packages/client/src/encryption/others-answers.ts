import type { NodeId } from '@runnel/protocol'
import { LRU } from 'tiny-lru'

/** A reader that asked. */
interface Asked {
  readonly askedMs: number
  answeredBy: NodeId | undefined
  /** Those whose answers were of no use to it. */
  readonly vain: Set<NodeId>
}

/** Readers that are remembered. */
const maxReaders = 2_000
/** A reader that asks again within this time has not got what it wants. */
const askAgainMs = 10_000
/** Users remembered for a reader whose answers were of no use to it. */
const maxVain = 16

/** Who else answered readers that ask. What was sealed to a reader nobody else can tell: only whoever asks again knows that it was of no use. */
export class OthersAnswers {
  readonly #asked = new LRU<Asked>(maxReaders)

  /** A reader asks, by its hint, at that time of the monotonic clock. */
  asked(hint: string, nowMs: number): void {
    const before = this.#asked.get(hint)
    const isAgain = before !== undefined && nowMs - before.askedMs < askAgainMs
    const vain = isAgain ? before.vain : new Set<NodeId>()
    if (isAgain && before.answeredBy !== undefined && vain.size < maxVain) vain.add(before.answeredBy)
    this.#asked.set(hint, { askedMs: nowMs, answeredBy: undefined, vain })
  }

  /** Somebody sealed something to a reader. */
  answered(hint: string, userId: NodeId): void {
    const asked = this.#asked.get(hint)
    if (asked !== undefined && !asked.vain.has(userId)) asked.answeredBy = userId
  }

  /** Whether somebody did since the reader asked, of whom it may be of use. */
  isAnswered(hint: string): boolean {
    return this.#asked.get(hint)?.answeredBy !== undefined
  }
}
