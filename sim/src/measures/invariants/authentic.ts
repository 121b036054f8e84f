import type { NodeId, StreamMessage } from '@runnel/protocol'
import type { Breaches } from './breaches.ts'
import type { PublishedMessages } from './published.ts'

/** A node takes only what its publisher published, as it was, and each message once. For one stay in a stream part. */
export class AuthenticChecker {
  readonly #nodeId: NodeId
  readonly #modules: { readonly breaches: Breaches; readonly published: PublishedMessages }
  readonly #taken = new Set<string>()

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
  }

  /** Messages it took. */
  get taken(): number {
    return this.#taken.size
  }

  has(key: string): boolean {
    return this.#taken.has(key)
  }
}
