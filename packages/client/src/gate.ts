import { streamIdOf, type NodeId, type RunnelError, type StreamId } from '@runnel/protocol'
import { clientError } from './errors.ts'
import type { ActingUser } from './identity/acting-user.ts'
import type { RegistryService } from './registry/registry-service.ts'

export interface GateModules {
  readonly user: Pick<ActingUser, 'userId' | 'delegation'>
  readonly registry: {
    readonly account: NodeId | undefined
    readonly admission: Pick<RegistryService['admission'], 'problemOf'>
  }
  /** Whether the registries can be changed in the user's name: its key is here, or a wallet that signs. */
  readonly hasAccount: boolean
}

/** Lets a call in, or throws why not: until the client closes, with an account, or as a member of the network. */
export class Gate {
  /** In whose name registries are changed, and whose streams `/path` means. */
  readonly account: NodeId
  readonly #modules: GateModules
  readonly #closing = new AbortController()
  /** Another process with the key of the node took its place. */
  #replaced: RunnelError | undefined

  constructor(modules: GateModules) {
    const { user, registry, hasAccount } = modules
    this.#modules = modules
    this.account = (hasAccount ? registry.account : undefined) ?? user.userId
  }

  /** Throws INVALID_STREAM_ID. */
  streamId(text: string): StreamId {
    return streamIdOf(text, this.account)
  }

  /** The id of the stream that a call is about, once it is let in. Throws CLIENT_CLOSED, and what `streamId` throws. */
  open(streamId: string): StreamId {
    this.requireOpen()
    return this.streamId(streamId)
  }

  /** As `open`, for who changes registries. Throws also NO_USER_KEY. */
  owner(streamId: string): StreamId {
    this.requireAccount()
    return this.streamId(streamId)
  }

  /** As `open`, for who takes part in the network. Throws also NODE_REPLACED, NODE_NOT_LISTED and DELEGATION_REVOKED. */
  member(streamId: string): StreamId {
    this.requireMember()
    return this.streamId(streamId)
  }

  /** Aborted before anything else is closed: what is published at once then still goes out. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  requireOpen(): void {
    if (this.#closing.signal.aborted) throw clientError('CLIENT_CLOSED')
  }

  requireAccount(): void {
    this.requireOpen()
    const { hasAccount, user } = this.#modules
    if (!hasAccount) throw clientError('NO_USER_KEY', user.userId)
  }

  requireMember(): void {
    this.requireOpen()
    const problem = this.#replaced ?? this.problem
    if (problem !== undefined) throw problem
  }

  /** Why the client may not take part in the network, as the registry says. */
  get problem(): RunnelError | undefined {
    const { user, registry } = this.#modules
    return registry.admission.problemOf(user.userId, user.delegation)
  }

  /** Nobody is let in any more as a member. */
  replaced(error: RunnelError): void {
    this.#replaced = error
  }

  /** Nobody is let in any more. */
  close(): void {
    this.#closing.abort()
  }
}
