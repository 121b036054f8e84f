import { signAccessToken, type AccessToken, type Clock, type Crypto, type NodeId } from '@runnel/protocol'
import type { ActingUser } from '../identity/acting-user.ts'

export interface AccessTokensModules {
  readonly user: Pick<ActingUser, 'key'>
  readonly crypto: Crypto
  readonly clock: Clock
}

/**
 * Lets the node ask in the name of the user, where the two are not the same. Storage nodes of wire 1.0 need it: the others know the
 * user from the link.
 */
export class AccessTokens {
  readonly #lifetimeMs: number
  readonly #nodeId: NodeId
  readonly #modules: AccessTokensModules

  constructor(options: { lifetimeMs: number; nodeId: NodeId }, modules: AccessTokensModules) {
    this.#lifetimeMs = options.lifetimeMs
    this.#nodeId = options.nodeId
    this.#modules = modules
  }

  /** Undefined when the node proves itself to be the user, or the user's key is elsewhere. */
  tokenFor(storageNodeId: NodeId): AccessToken | undefined {
    const { user, crypto, clock } = this.#modules
    if (user.key === undefined || user.key.nodeId === this.#nodeId) return undefined
    const expiresMs = clock.now() + this.#lifetimeMs
    return signAccessToken({ requesterId: this.#nodeId, storageNodeId, expiresMs }, crypto, user.key)
  }
}
