import { highestFor, type MessageRef, type NodeId } from '@runnel/protocol'
import { LRU } from 'tiny-lru'

/** What stays with one member: the messages of one key, or else of one chain ('chain'), or single messages ('message'). */
export type Spread = 'chain' | 'message'

/** What a message says of where it belongs. */
export interface Shared extends MessageRef {
  readonly partition: number
  readonly key: string | undefined
}

/** Chains and keys whose member is remembered. */
const maxRemembered = 10_000

/**
 * Which member's a message is: the same to all who know of the same members, without asking anybody. Who comes takes from all, and what is
 * left by who goes is spread over the others.
 */
export class Share {
  readonly #self: NodeId
  readonly #spread: Spread
  #members: readonly NodeId[]
  readonly #known = new LRU<NodeId>(maxRemembered)

  constructor(self: NodeId, spread: Spread) {
    this.#self = self
    this.#spread = spread
    this.#members = [self]
  }

  get members(): readonly NodeId[] {
    return this.#members
  }

  /** The other members that there are now. */
  set others(others: readonly NodeId[]) {
    this.#members = [this.#self, ...others]
    this.#known.clear()
  }

  isMine(message: Shared, tag: string): boolean {
    if (this.#members.length === 1) return true
    return this.#memberOf(this.#unitOf(message, tag)) === this.#self
  }

  #unitOf({ partition, key, timestamp, sequenceNumber }: Shared, tag: string): string {
    if (this.#spread === 'message') return `${tag} ${timestamp} ${sequenceNumber}`
    return key === undefined ? tag : `${partition} ${key}`
  }

  #memberOf(unit: string): NodeId | undefined {
    const known = this.#spread === 'chain' ? this.#known.get(unit) : undefined
    if (known !== undefined) return known
    const [member] = highestFor(unit, this.#members, 1)
    if (member !== undefined && this.#spread === 'chain') this.#known.set(unit, member)
    return member
  }
}
