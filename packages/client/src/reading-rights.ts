import {
  readsUntilMs,
  streamOfScope,
  type Cancel,
  type Clock,
  type PermissionScope,
  type ReaderPolicy,
  type StreamId,
} from '@runnel/protocol'
import type { ActingUser } from './identity/acting-user.ts'
import type { RegistryCache } from './registry/registry-cache.ts'

/** A registry that gave no answer is asked again after this. */
const retryMs = 5_000

export interface ReadingRightsModules {
  readonly clock: Clock
  readonly policy: Pick<ReaderPolicy, 'readsForMs' | 'resolve'>
  readonly cache: Pick<RegistryCache, 'peekPermissions'>
}

/** Who reads: a user, as far as this client may act for it. */
export type ReadingUser = Pick<ActingUser, 'userId' | 'delegation' | 'readsForMs'>

/** Whether one user may read the streams in use, and when to check again. */
export class ReadingRights {
  /** Told when it may have changed. */
  onChange: (scope: PermissionScope) => void = () => {}
  readonly #user: ReadingUser
  readonly #modules: ReadingRightsModules
  /** The streams in use, and how to cancel the next look. */
  readonly #watched = new Map<PermissionScope, Cancel>()

  constructor(options: { readonly user: ReadingUser }, modules: ReadingRightsModules) {
    this.#user = options.user
    this.#modules = modules
  }

  /** Whether the node should read: the user may as far as is known; whether it stores the stream is unknown, but it wants to. */
  reads(scope: PermissionScope, isWanted: boolean): boolean {
    if (this.#user.readsForMs(scope) <= 0) return false
    const forMs = this.#permittedForMs(scope)
    if (forMs !== undefined) return forMs > 0
    return isWanted || this.#subscribesForMs(scope) > 0
  }

  /** It is in use: when the permission ends it is looked at again. */
  watch(scope: PermissionScope): void {
    const permittedMs = this.#permittedForMs(scope) ?? this.#subscribesForMs(scope)
    const forMs = Math.min(permittedMs, this.#user.readsForMs(scope))
    this.#lookIn(scope, forMs > 0 ? forMs : Infinity)
  }

  unwatch(scope: PermissionScope): void {
    this.#watched.get(scope)?.()
    this.#watched.delete(scope)
  }

  /** The registry may have changed for one stream or for all. Until it answers, the known rights apply. */
  lookAgain(changed?: StreamId): void {
    for (const scope of [...this.#watched.keys()])
      if (streamOfScope(scope) === (changed ?? streamOfScope(scope))) this.#look(scope)
  }

  close(): void {
    for (const scope of [...this.#watched.keys()]) this.unwatch(scope)
  }

  #look(scope: PermissionScope): void {
    this.#lookIn(scope, Infinity)
    const { userId, delegation } = this.#user
    this.#modules.policy.resolve(scope, userId, undefined, delegation).then(
      () => {
        if (!this.#watched.has(scope)) return
        this.watch(scope)
        this.onChange(scope)
      },
      () => {
        if (this.#watched.has(scope)) this.#lookIn(scope, retryMs)
      },
    )
  }

  #lookIn(scope: PermissionScope, delayMs: number): void {
    this.#watched.get(scope)?.()
    const look = () => this.#look(scope)
    this.#watched.set(scope, delayMs === Infinity ? () => {} : this.#modules.clock.schedule(delayMs, look))
  }

  #permittedForMs(scope: PermissionScope): number | undefined {
    const { userId, delegation } = this.#user
    return this.#modules.policy.readsForMs(scope, userId, delegation)
  }

  /** By its permission alone. */
  #subscribesForMs(scope: PermissionScope): number {
    const { cache, clock } = this.#modules
    const permissions = cache.peekPermissions(streamOfScope(scope), this.#user.userId)
    return permissions === undefined ? Infinity : readsUntilMs(permissions, scope) - clock.now()
  }
}
