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

/**
 * What waits for a registry's answer: the first messages of a publisher, at each node on their way, would be lost otherwise. Memory is shared
 * out by who brings them: when it is full, the neighbour that holds most loses its oldest, which is of least use.
 */
export class HeldUrgent {
  readonly #shares: Shares<HeldUrgentBatch>
  /** By question and place. */
  readonly #waiting = new RareMap<string, Map<string, HeldUrgentBatch>>()

  constructor({ maxHeldUrgentBytes }: { readonly maxHeldUrgentBytes: number }) {
    this.#shares = new Shares({ max: maxHeldUrgentBytes, evict: 'oldest' })
  }

  /** Whether the same message is held already. */
  has(author: Author, batch: MessageBatch, message: StreamMessage): boolean {
    return this.#waiting.get(authorKey(author))?.has(placeOf(batch, message)) ?? false
  }

  /** Returns those that lose their place, which may be this one. */
  hold(held: HeldUrgentBatch): readonly HeldUrgentBatch[] {
    const { author, batch, message, from } = held
    const key = authorKey(author)
    const some = this.#waiting.get(key) ?? new Map<string, HeldUrgentBatch>()
    some.set(placeOf(batch, message), held)
    this.#waiting.set(key, some)
    const lost = this.#shares.add(held, from, batch.bytes.length)
    for (const one of lost) this.#forget(one)
    return lost
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
