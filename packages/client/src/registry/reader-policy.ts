import {
  readsUntilMs,
  streamOfScope,
  toNodeId,
  type Clock,
  type Delegation,
  type NodeId,
  type PermissionScope,
  type ReaderPolicy,
  type StreamId,
} from '@runnel/protocol'
import type { RegistryCache } from './registry-cache.ts'
import type { DelegationChecks } from './registry-delegations.ts'

/** No account, which has the permissions that everybody has. */
export const anybody = toNodeId(`0x${'0'.repeat(40)}`)

/** Tells who may read: at once from the cache, else from the registry. */
export class RegistryReaderPolicy implements ReaderPolicy {
  readonly #cache: RegistryCache
  readonly #delegations: DelegationChecks
  readonly #clock: Clock
  readonly #listeners = new Set<(streamId: StreamId | undefined) => void>()

  constructor(modules: { cache: RegistryCache; delegations: DelegationChecks; clock: Clock }) {
    this.#cache = modules.cache
    this.#delegations = modules.delegations
    this.#clock = modules.clock
  }

  readsForMs(scope: PermissionScope, userId: NodeId, delegation?: Delegation): number | undefined {
    // Where all may read nobody is looked up: whoever acts for nobody may read it, too.
    if (this.#isPublic(scope)) return Infinity
    const forMs = this.#userReadsForMs(scope, userId)
    if (delegation === undefined || (forMs !== undefined && forMs <= 0)) return forMs
    const answer = this.#delegations.check(delegation)
    if (answer === 'denied') return 0
    return answer === 'allowed' ? forMs : undefined
  }

  async resolve(
    scope: PermissionScope,
    userId: NodeId,
    cause?: string,
    delegation?: Delegation,
  ): Promise<void> {
    await this.#resolveUser(scope, userId, cause)
    if (this.#isPublic(scope)) return
    // Nothing is asked for those who may not read anyway.
    if (delegation !== undefined && this.#userReadsForMs(scope, userId) !== 0)
      await this.#delegations.resolve(delegation, cause)
  }

  #isPublic(scope: PermissionScope): boolean {
    const permissions = this.#cache.peekPermissions(streamOfScope(scope), anybody)
    return permissions !== undefined && readsUntilMs(permissions, scope) === Infinity
  }

  #userReadsForMs(scope: PermissionScope, userId: NodeId): number | undefined {
    const wallMs = this.#clock.now()
    const streamId = streamOfScope(scope)
    const forMs = (user: NodeId) => {
      const permissions = this.#cache.peekPermissions(streamId, user)
      return permissions && readsUntilMs(permissions, scope) - wallMs
    }
    const everybody = forMs(anybody)
    const user = forMs(userId)
    const known = Math.max(everybody ?? -Infinity, user ?? -Infinity)
    if (known > 0) return known
    const storageNodes = this.#cache.peekStorageNodes(streamId)
    if (storageNodes?.some(({ nodeId }) => nodeId === userId)) return Infinity
    return everybody === undefined || user === undefined || storageNodes === undefined ? undefined : 0
  }

  async #resolveUser(scope: PermissionScope, userId: NodeId, cause?: string): Promise<void> {
    const wallMs = this.#clock.now()
    const streamId = streamOfScope(scope)
    const everybody = await this.#cache.permissionsOf(streamId, anybody)
    if (readsUntilMs(everybody, scope) === Infinity) return
    const user = await this.#cache.permissionsOf(streamId, userId, cause)
    if (readsUntilMs(user, scope) > wallMs) return
    await this.#cache.storageNodesOf(streamId)
  }

  onChange(listener: (streamId: StreamId | undefined) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** To be told of changes in the registry; of all streams when undefined. */
  changed(streamId: StreamId | undefined): void {
    for (const listener of [...this.#listeners]) listener(streamId)
  }
}
