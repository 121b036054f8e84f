import { compareRefs, placeOf, type MessageRef, type NodeId, type StreamMessage } from '@runnel/protocol'
import type { Breaches } from './breaches.ts'
import { chainKey, type PublishedMessages } from './published.ts'

/** A node takes only what its publisher published, as it was, and each message once. For one stay in a stream part. */
export class AuthenticChecker {
  readonly #nodeId: NodeId
  readonly #modules: { readonly breaches: Breaches; readonly published: PublishedMessages }
  readonly #taken = new Set<string>()
  /** Of each chain. */
  readonly #latest = new Map<string, MessageRef>()

  constructor(
    nodeId: NodeId,
    modules: { readonly breaches: Breaches; readonly published: PublishedMessages },
  ) {
    this.#nodeId = nodeId
    this.#modules = modules
  }

  took(message: StreamMessage): void {
    const { breaches, published } = this.#modules
    const original = published.find(message)
    if (original === undefined)
      return breaches.report('authentic', `${this.#nodeId} took what ${message.publisherId} did not publish`)
    if (this.#taken.has(original.key))
      breaches.report('authentic', `${this.#nodeId} took ${original.key} twice`)
    this.#taken.add(original.key)
    const chain = chainKey(message)
    const latest = this.#latest.get(chain)
    if (latest === undefined || compareRefs(latest, message) < 0) this.#latest.set(chain, placeOf(message))
  }

  /** Messages it took. */
  get taken(): number {
    return this.#taken.size
  }

  has(key: string): boolean {
    return this.#taken.has(key)
  }

  /** Whether it took a later message of the same chain. */
  hasLater(key: string): boolean {
    const words = key.split(' ')
    const latest = this.#latest.get(words.slice(0, -2).join(' '))
    const [timestamp = 0, sequenceNumber = 0] = words.slice(-2).map(Number)
    return latest !== undefined && compareRefs(latest, { timestamp, sequenceNumber }) > 0
  }
}
