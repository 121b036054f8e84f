import {
  signAccessToken,
  type AccessToken,
  type Clock,
  type Crypto,
  type Identity,
  type NodeId,
} from '@runnel/protocol'

/** Lets the node ask in the name of the user, where the two are not the same. */
export class AccessTokens {
  readonly #lifetimeMs: number
  readonly #nodeId: NodeId
  readonly #modules: { identity: Identity; crypto: Crypto; clock: Clock }

  constructor(
    options: { lifetimeMs: number; nodeId: NodeId },
    modules: { identity: Identity; crypto: Crypto; clock: Clock },
  ) {
    this.#lifetimeMs = options.lifetimeMs
    this.#nodeId = options.nodeId
    this.#modules = modules
  }

  /** Undefined when the node proves itself to be the user. */
  tokenFor(storageNodeId: NodeId): AccessToken | undefined {
    const { identity, crypto, clock } = this.#modules
    if (identity.nodeId === this.#nodeId) return undefined
    const expiresMs = clock.now() + this.#lifetimeMs
    return signAccessToken({ requesterId: this.#nodeId, storageNodeId, expiresMs }, crypto, identity)
  }
}
