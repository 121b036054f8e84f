import type { NodeId, StreamMessage } from '@runnel/protocol'
import type { Breaches } from './breaches.ts'
import { chainKey } from './published.ts'

export interface SecretModules {
  readonly breaches: Breaches
  /** Whether a user could read at any time since then (virtual time). */
  readSince(userId: NodeId, sinceMs: number): boolean
  /** Whether a user must be able to open what was sealed then. */
  mustRead(userId: NodeId, message: SealedMessage): boolean
}

export interface SealedMessage {
  readonly publisherId: NodeId
  /** When its publisher began to seal it, in virtual time. */
  readonly sinceMs: number
  /** The id of the epoch that it was sealed in. */
  readonly keyId: string
  readonly content: string
}

/** Who may read what is sealed opens it to what was published; nobody else opens it. */
export class SecretChecker {
  readonly #modules: SecretModules
  readonly #sealed = new Map<string, SealedMessage>()
  opened = 0

  constructor(modules: SecretModules) {
    this.#modules = modules
  }

  sealed(message: StreamMessage, content: Uint8Array, sinceMs: number): void {
    const { publisherId, groupKeyId: keyId } = message
    this.#sealed.set(nameOf(message), { publisherId, sinceMs, keyId, content: textOf(content) })
  }

  openedBy(userId: NodeId, message: StreamMessage, content: Uint8Array): void {
    this.opened++
    const { breaches, readSince } = this.#modules
    const name = nameOf(message)
    const sealed = this.#sealed.get(name)
    if (sealed?.content !== textOf(content))
      return breaches.report('secret', `${userId} opens ${name} to what was not published`)
    if (!readSince(userId, sealed.sinceMs))
      breaches.report('secret', `${userId} opens ${name} and could not read since it was sealed`)
  }

  /** What a user has and could not open. */
  unopened(userId: NodeId, messages: Iterable<StreamMessage>): void {
    const { breaches, mustRead } = this.#modules
    for (const message of messages) {
      const sealed = this.#sealed.get(nameOf(message))
      if (sealed !== undefined && mustRead(userId, sealed))
        breaches.report('secret', `${userId} may read and cannot open ${nameOf(message)}`)
    }
  }
}

function nameOf(message: StreamMessage): string {
  return `${chainKey(message)} ${message.timestamp} ${message.sequenceNumber}`
}

function textOf(content: Uint8Array): string {
  return Buffer.from(content).toString('base64')
}
