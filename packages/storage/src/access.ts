import type { RunnelClient } from '@runnel/client'
import {
  anyRequester,
  isRunnelError,
  parseStreamPartId,
  verifyAccessToken,
  type AccessToken,
  type Clock,
  type Crypto,
  type NodeId,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'
import { storageError } from './errors.ts'

/** The requesting node and the user it acts for. */
export interface Asker {
  /** The id proven on its link; over HTTP the zero address, which nobody can prove. */
  readonly requesterId: NodeId
  readonly token: AccessToken | undefined
}

export interface AccessModules {
  readonly client: Pick<RunnelClient, 'nodeId' | 'getStream' | 'permissionsOf' | 'getStorageNodes'>
  readonly crypto: Crypto
  readonly clock: Clock
}

/** Admits users that may subscribe to a stream, and storage nodes assigned to it. */
export class Access {
  readonly #modules: AccessModules

  constructor(modules: AccessModules) {
    this.#modules = modules
  }

  /** Throws UNKNOWN_STREAM, TOKEN_INVALID or NOT_PERMITTED, and STORE_FAILED while the registry cannot be read. */
  async requireSubscriber(streamPartId: StreamPartId, asker: Asker): Promise<void> {
    const user = await this.#userOn(streamPartId, asker)
    const { streamId } = parseStreamPartId(streamPartId)
    const { subscribeUntilMs } = await this.#read(() => this.#modules.client.permissionsOf(streamId, user))
    if (this.#modules.clock.now() < subscribeUntilMs) return
    if (asker.token === undefined && (await this.#keeps(streamId, asker.requesterId))) return
    throw storageError('NOT_PERMITTED', `${user} may not subscribe to ${streamId}`)
  }

  /**
   * Checks an admitted requester again: throws UNKNOWN_STREAM or NOT_PERMITTED when it is no longer admitted. A request in
   * progress survives the expiry of its token and an unreadable registry.
   */
  async requireStillSubscriber(streamPartId: StreamPartId, { requesterId, token }: Asker): Promise<void> {
    const { client, clock } = this.#modules
    const { streamId } = parseStreamPartId(streamPartId)
    const user = token?.userId ?? requesterId
    try {
      const { subscribeUntilMs } = await this.#read(() => client.permissionsOf(streamId, user))
      if (clock.now() < subscribeUntilMs) return
      if (token === undefined && (await this.#keeps(streamId, requesterId))) return
    } catch (error) {
      if (isRunnelError(error, 'STORE_FAILED')) return
      throw error
    }
    throw storageError('NOT_PERMITTED', `${user} may no longer subscribe to ${streamId}`)
  }

  /** Lets also a publisher ask after its own messages. Throws as `requireSubscriber` does. */
  async requirePublisherOrSubscriber(
    streamPartId: StreamPartId,
    publisherId: NodeId,
    asker: Asker,
  ): Promise<void> {
    if ((await this.#userOn(streamPartId, asker)) === publisherId) return
    await this.requireSubscriber(streamPartId, asker)
  }

  /** The requester, once the stream part is known to exist. */
  async #userOn(streamPartId: StreamPartId, { requesterId, token }: Asker): Promise<NodeId> {
    const { client, clock, crypto } = this.#modules
    const { streamId, partition } = parseStreamPartId(streamPartId)
    const stream = await this.#read(() => client.getStream(streamId))
    if (partition >= stream.partitions) {
      throw storageError('UNKNOWN_STREAM', `${streamId} has ${stream.partitions} partitions`)
    }
    if (token === undefined) return requesterId
    const parties = { requesterId, storageNodeId: client.nodeId }
    if (!verifyAccessToken(token, parties, clock.now(), crypto)) throw storageError('TOKEN_INVALID')
    return token.userId
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
