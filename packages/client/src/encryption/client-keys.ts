import {
  isRunnelError,
  type Card,
  type Clock,
  type Crypto,
  type NodeId,
  type StreamId,
} from '@runnel/protocol'
import { clientError } from '../errors.ts'
import { requirePermission, type PermissionModules } from '../permission.ts'
import type { ContractReader } from '../registry/ports.ts'
import type { StatusHub } from '../status.ts'
import type { Encryption } from './encryption.ts'
import type { RotatedKeys, StreamKeys } from './stream-keys.ts'

export interface ClientKeysModules extends PermissionModules {
  readonly encryption: Encryption
  /** The chain of the registries, and the users on it that are contracts. */
  readonly registry: { readonly chainId: number; readonly contracts: ContractReader }
  readonly crypto: Crypto
  readonly clock: Clock
  readonly status: Pick<StatusHub, 'emit'>
  /** Aborted when the client closes. */
  readonly closing: AbortSignal
}

/** The keys of streams, as an application asks for them: by what its user may do, and without secrets. */
export class ClientKeys {
  readonly #modules: ClientKeysModules

  constructor(modules: ClientKeysModules) {
    this.#modules = modules
  }

  async of(streamId: StreamId): Promise<StreamKeys> {
    const { encryption, cache, user, clock } = this.#modules
    const { grant, publishUntilMs } = await cache.permissionsOf(streamId, user.userId)
    if (!grant && publishUntilMs <= clock.now()) await requirePermission('subscribe', streamId, this.#modules)
    const stream = await encryption.stream(streamId)
    const isEncrypted = await encryption.isEncrypted(streamId)
    return { streamId, isEncrypted, choice: stream.choice, ...(await stream.keys()) }
  }

  async rotate(streamId: StreamId): Promise<RotatedKeys> {
    const { encryption, closing } = this.#modules
    const stream = await encryption.stream(streamId)
    if (stream.choice.keyHolder === undefined) await requirePermission('publish', streamId, this.#modules)
    if (!(await encryption.isEncrypted(streamId))) throw clientError('NOT_ENCRYPTED', streamId)
    const { id: epochId, readers } = await stream.rotate()
    const isStored = await stream.settled(closing).then(
      () => true,
      (error: unknown) => {
        if (!isRunnelError(error)) throw error
        return false
      },
    )
    return { epochId, readers, isStored }
  }

  /** The user has the permission, whether or not it can be given the keys: it asks for them when it comes. */
  async passOn(streamId: StreamId, user: NodeId, card: Card | undefined): Promise<void> {
    const { encryption, status } = this.#modules
    try {
      await encryption.share(streamId, user, card)
    } catch (error) {
      if (!isRunnelError(error)) throw error
      status.emit({ type: 'encryption', streamId, state: 'unshared', error })
    }
  }

  /** What comes with encryption is begun for a reader. What fails now is done again with the first message that needs it, and reported. */
  attend(streamId: StreamId): void {
    this.#modules.encryption.attend(streamId).catch(() => {})
  }

  async checkCard(card: Card): Promise<void> {
    const { registry, crypto, clock } = this.#modules
    const { requireGoodCard } = await import('./check-card.ts')
    await requireGoodCard(card, { chainId: registry.chainId, contracts: registry.contracts, crypto, clock })
  }
}
