import {
  signMembership,
  type AccessToken,
  type Clock,
  type Crypto,
  type Identity,
  type NodeId,
} from '@runnel/protocol'

/** How long a token is valid: long enough to be valid on arrival although clocks differ. */
const lifetimeMs = 3_600_000

/** Lets a node take part in stream parts on behalf of a user. */
export class MembershipTokens {
  readonly #nodeId: NodeId
  readonly #modules: { identity: Identity; crypto: Crypto; clock: Clock }
  #token: AccessToken | undefined

  constructor(
    options: { readonly nodeId: NodeId },
    modules: { identity: Identity; crypto: Crypto; clock: Clock },
  ) {
    this.#nodeId = options.nodeId
    this.#modules = modules
  }

  /** One token is used until half of its lifetime is over. */
  current(): AccessToken {
    const { identity, crypto, clock } = this.#modules
    const wallMs = clock.now()
    if (this.#token === undefined || this.#token.expiresMs - wallMs < lifetimeMs / 2)
      this.#token = signMembership({ nodeId: this.#nodeId, expiresMs: wallMs + lifetimeMs }, crypto, identity)
    return this.#token
  }
}
