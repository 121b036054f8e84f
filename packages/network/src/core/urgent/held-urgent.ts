import {
  RareMap,
  Shares,
  toStreamPartId,
  type MessageBatch,
  type NodeId,
  type StreamMessage,
  type UrgentFields,
} from '@runnel/protocol'
import { authorKey, type Author } from '../delegations/authorship.ts'
import { urgentChainKey, urgentPlaceKey } from './urgent-chains.ts'

/** An urgent batch with a good signature whose publisher is not known to be permitted yet. */
export interface HeldUrgentBatch {
  /** Who published it, and under which delegation, which may be forgotten elsewhere meanwhile. */
  readonly author: Author
  readonly batch: MessageBatch
  readonly message: StreamMessage
  readonly fields: UrgentFields
  /** When it is of no more use, by the monotonic clock. */
  readonly deadlineMs: number
  readonly from: NodeId
}

export interface HeldUrgentLimits {
  readonly maxHeldUrgentBytes: number
  readonly urgentAskMs: number
}

/**
 * What waits for a registry's answer: the first messages of a publisher, at each node on their way, would be lost otherwise. Memory is shared
 * out by who brings them: when it is full, the neighbour that holds most loses its oldest, which is of least use. What is of no more use is let
 * go every `urgentAskMs`, as an answer may never come.
 */
export class HeldUrgent {
  readonly #limits: HeldUrgentLimits
  readonly #shares: Shares<HeldUrgentBatch>
  /** By question and place. */
  readonly #waiting = new RareMap<string, Map<string, HeldUrgentBatch>>()

  #dueMs = Infinity

  constructor(limits: HeldUrgentLimits) {
    this.#limits = limits
    this.#shares = new Shares({ max: limits.maxHeldUrgentBytes, evict: 'oldest' })
  }

  /** When `expire` is to be called next, by the monotonic clock; Infinity while nothing is held. */
  get dueMs(): number {
    return this.#dueMs
  }

  /** Whether the same message is held already. */
  has(author: Author, batch: MessageBatch, message: StreamMessage): boolean {
    return this.#waiting.get(authorKey(author))?.has(placeOf(batch, message)) ?? false
  }

  /** Returns those that lose their place, which may be this one. */
  hold(held: HeldUrgentBatch, nowMs: number): readonly HeldUrgentBatch[] {
    const { author, batch, message, from } = held
    const key = authorKey(author)
    const some = this.#waiting.get(key) ?? new Map<string, HeldUrgentBatch>()
    some.set(placeOf(batch, message), held)
    this.#waiting.set(key, some)
    const lost = this.#shares.add(held, from, batch.bytes.length)
    for (const one of lost) this.#forget(one)
    this.#dueMs = Math.min(this.#dueMs, nowMs + this.#limits.urgentAskMs)
    return lost
  }

  /** Lets go of those whose time is over, and returns them. */
  expire(nowMs: number): readonly HeldUrgentBatch[] {
    if (nowMs < this.#dueMs) return []
    const late = [...this.#waiting.values()]
      .flatMap((some) => [...some.values()])
      .filter(({ deadlineMs }) => deadlineMs <= nowMs)
    for (const held of late) {
      this.#shares.delete(held)
      this.#forget(held)
    }
    this.#dueMs = this.#shares.size === 0 ? Infinity : nowMs + this.#limits.urgentAskMs
    return late
  }

  /** All of this author, oldest first; they are no longer held. */
  release(author: Author): readonly HeldUrgentBatch[] {
    const key = authorKey(author)
    const some = [...(this.#waiting.get(key)?.values() ?? [])]
    this.#waiting.delete(key)
    for (const held of some) this.#shares.delete(held)
    return some
  }

  #forget({ author, batch, message }: HeldUrgentBatch): void {
    const key = authorKey(author)
    const some = this.#waiting.get(key)
    some?.delete(placeOf(batch, message))
    if (some?.size === 0) this.#waiting.delete(key)
  }
}

const placeOf = ({ chain }: MessageBatch, message: StreamMessage): string =>
  urgentPlaceKey(urgentChainKey(toStreamPartId(chain.streamId, chain.partition), chain), message)
