import type { RunnelClient } from '@runnel/client'
import type { NetworkNode } from '@runnel/network'
import {
  actsForMs,
  answerOf,
  anyRequester,
  delegationProblem,
  isRunnelError,
  isSignedByKey,
  keyPartition,
  parseStreamPartId,
  protocolError,
  readsUntilMs,
  scopeOfPart,
  streamOfScope,
  verifyAccessToken,
  type AccessToken,
  type ActingFor,
  type Clock,
  type Crypto,
  type Delegation,
  type NodeId,
  type PermissionScope,
  type PublisherPolicy,
  type ReaderPolicy,
  type RunnelError,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'
import { storageError } from './errors.ts'

/** The requesting node and the user it acts for. */
export interface Asker {
  /** The id proven on its link; over HTTP the zero address, which nobody can prove. */
  readonly requesterId: NodeId
  readonly token: AccessToken | undefined
  /** Over HTTP: of a user to the one who signed the token. Over a link it was shown when that opened. */
  readonly delegation?: Delegation | undefined
}

export interface AccessModules {
  readonly client: Pick<RunnelClient, 'nodeId' | 'getStream' | 'permissionsOf' | 'getStorageNodes'> & {
    readonly readerPolicy: Pick<ReaderPolicy, 'readsForMs' | 'resolve'>
    readonly publisherPolicy: PublisherPolicy
    /** On which delegations have to be; undefined: on any. */
    readonly chainId: number | undefined
    readonly network: Pick<NetworkNode, 'actingFor'>
  }
  readonly crypto: Crypto
  readonly clock: Clock
  /** A user was admitted to a stream part that not everybody may read. */
  readonly onMember?: (userId: NodeId, streamPartId: StreamPartId) => void
}

/** In whose name something is asked for, and under what delegation. */
interface User {
  readonly userId: NodeId
  readonly acting: ActingFor | undefined
}

/** Admits users that may subscribe to a stream, those that act for them, and storage nodes assigned to it. */
export class Access {
  readonly #modules: AccessModules

  constructor(modules: AccessModules) {
    this.#modules = modules
  }

  /**
   * Throws UNKNOWN_STREAM, TOKEN_INVALID, NOT_PERMITTED, or a code of a delegation (DELEGATION_…), and STORE_FAILED while the registry
   * cannot be read.
   */
  async requireSubscriber(streamPartId: StreamPartId, asker: Asker): Promise<void> {
    await this.#requireStreamPart(streamPartId)
    this.#requireToken(asker)
    await this.#requireReader(streamPartId, asker)
    await this.#noteMember(streamPartId, asker)
  }

  /**
   * Checks an admitted requester again: throws UNKNOWN_STREAM, NOT_PERMITTED or DELEGATION_… when it is no longer admitted. A request in
   * progress survives the expiry of its token and an unreadable registry.
   */
  async requireStillSubscriber(streamPartId: StreamPartId, asker: Asker): Promise<void> {
    try {
      await this.#requireReader(streamPartId, asker)
    } catch (error) {
      if (!isRunnelError(error, 'STORE_FAILED')) throw error
    }
  }

  /** Lets also a publisher ask after its own messages. Throws as `requireSubscriber` does. */
  async requirePublisherOrSubscriber(
    streamPartId: StreamPartId,
    publisherId: NodeId,
    asker: Asker,
  ): Promise<void> {
    await this.#requireStreamPart(streamPartId)
    this.#requireToken(asker)
    const { userId, acting } = this.#userOf(asker)
    const scope = scopeOfPart(streamPartId)
    const mayPublish = actsForMs(acting, 'publishes', scope, this.#modules.clock.now()) > 0
    const isIts = userId === publisherId && mayPublish
    if (isIts && (acting === undefined || (await this.#publishesFor(scope, acting, asker)))) return
    await this.#requireReader(streamPartId, asker)
  }

  async #requireStreamPart(streamPartId: StreamPartId): Promise<void> {
    const { streamId, partition } = parseStreamPartId(streamPartId)
    const stream = await this.#read(() => this.#modules.client.getStream(streamId))
    if (partition >= stream.partitions && partition !== keyPartition) {
      throw storageError('UNKNOWN_STREAM', `${streamId} has ${stream.partitions} partitions`)
    }
  }

  #requireToken({ requesterId, token }: Asker): void {
    const { client, clock, crypto } = this.#modules
    const parties = { requesterId, storageNodeId: client.nodeId }
    if (token !== undefined && !verifyAccessToken(token, parties, clock.now(), crypto))
      throw storageError('TOKEN_INVALID')
  }

  async #requireReader(streamPartId: StreamPartId, asker: Asker): Promise<void> {
    const scope = scopeOfPart(streamPartId)
    const problem = await this.#readingProblem(scope, asker)
    if (problem === undefined) return
    if (asker.token === undefined && (await this.#keeps(streamOfScope(scope), asker.requesterId))) return
    throw problem
  }

  async #noteMember(streamPartId: StreamPartId, asker: Asker): Promise<void> {
    const { client, clock, onMember } = this.#modules
    if (onMember === undefined) return
    const scope = scopeOfPart(streamPartId)
    // The zero address has the permissions of everybody.
    const everybody = await this.#read(() => client.permissionsOf(streamOfScope(scope), anyRequester))
    if (clock.now() >= readsUntilMs(everybody, scope)) onMember(this.#userOf(asker).userId, streamPartId)
  }

  /** A token says who asks; without one it is the user that the requester acts for on its link, or the requester itself. */
  #userOf({ requesterId, token, delegation }: Asker): User {
    if (delegation !== undefined) {
      const acting = this.#actingUnder(delegation, token)
      return { userId: acting.userId, acting }
    }
    if (token !== undefined) return { userId: token.userId, acting: undefined }
    const acting = this.#modules.client.network.actingFor(requesterId)
    return { userId: acting?.userId ?? requesterId, acting }
  }

  /** Throws DELEGATION_… when the signer of the token does not act for the user of the delegation, whatever the stream. */
  #actingUnder(delegation: Delegation, token: AccessToken | undefined): ActingFor {
    const { client, clock, crypto } = this.#modules
    const { userId, delegateId, untilMs, block } = delegation
    if (token?.userId !== delegateId)
      throw protocolError('DELEGATION_NOT_YOURS', `a token of ${delegateId} has to go with it`)
    const problem = delegationProblem(delegation, { chainId: client.chainId, wallMs: clock.now() })
    if (problem !== undefined) throw problem
    const isKeySigned = isSignedByKey(delegation, crypto)
    if (!isKeySigned && block === 0) throw protocolError('DELEGATION_FORGED', `of ${userId}`)
    return { userId, delegation, untilMs, isKeySigned }
  }

  /** Why somebody may not read a stream; undefined when it may. */
  async #readingProblem(scope: PermissionScope, asker: Asker): Promise<RunnelError | undefined> {
    const { client, clock } = this.#modules
    const { userId, acting } = this.#userOf(asker)
    if (actsForMs(acting, 'reads', scope, clock.now()) <= 0) {
      const isExpired = acting !== undefined && acting.untilMs <= clock.now()
      return protocolError(isExpired ? 'DELEGATION_EXPIRED' : 'DELEGATION_SCOPE', `reading ${scope}`)
    }
    const permissions = await this.#read(() => client.permissionsOf(streamOfScope(scope), userId))
    if (clock.now() >= readsUntilMs(permissions, scope))
      return storageError('NOT_PERMITTED', `${userId} may not subscribe to ${scope}`)
    if (acting === undefined || (await this.#isInForce(scope, acting, asker))) return undefined
    return protocolError('DELEGATION_REVOKED', `or the contract ${userId} does not back it`)
  }

  /** Whether the user may publish, and by this delegation. */
  async #publishesFor(
    scope: PermissionScope,
    { userId, delegation }: ActingFor,
    { requesterId }: Asker,
  ): Promise<boolean> {
    const { client, clock } = this.#modules
    const { publisherPolicy: policy } = client
    const check = () => policy.check(scope, userId, clock.now(), undefined, delegation)
    const lookUp = () => this.#read(() => policy.resolve(scope, userId, requesterId, delegation))
    return (await answerOf(check, lookUp)) === 'allowed'
  }

  /** Whether a delegation was not taken back, and the contract that it is of, if it is, backs it. */
  async #isInForce(
    scope: PermissionScope,
    { userId, delegation }: ActingFor,
    { requesterId }: Asker,
  ): Promise<boolean> {
    const { readerPolicy } = this.#modules.client
    const check = () => readerPolicy.readsForMs(scope, userId, delegation)
    const lookUp = () => this.#read(() => readerPolicy.resolve(scope, userId, requesterId, delegation))
    const forMs = await answerOf(check, lookUp)
    if (forMs === undefined) throw storageError('STORE_FAILED', 'the registry does not answer')
    return forMs > 0
  }

  /** Storage nodes of a stream repair each other; by choosing them, the owner lets them have the messages. */
  async #keeps(streamId: StreamId, requesterId: NodeId): Promise<boolean> {
    if (requesterId === anyRequester) return false
    const nodes = await this.#read(() => this.#modules.client.getStorageNodes(streamId))
    return nodes.some(({ nodeId }) => nodeId === requesterId)
  }

  async #read<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await read()
    } catch (cause) {
      if (isRunnelError(cause, 'STREAM_NOT_FOUND')) {
        throw storageError('UNKNOWN_STREAM', undefined, { cause })
      }
      throw storageError('STORE_FAILED', 'the registry does not answer', { cause })
    }
  }
}
