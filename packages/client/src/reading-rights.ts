import type { Cancel, Clock, ReaderPolicy, StreamId } from '@runnel/protocol'
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
  onChange: (streamId: StreamId) => void = () => {}
  readonly #user: ReadingUser
  readonly #modules: ReadingRightsModules
  /** The streams in use, and how to cancel the next look. */
  readonly #watched = new Map<StreamId, Cancel>()

  constructor(options: { readonly user: ReadingUser }, modules: ReadingRightsModules) {
    this.#user = options.user
    this.#modules = modules
  }

  /** Whether the node should read: the user may as far as is known; whether it stores the stream is unknown, but it wants to. */
  reads(streamId: StreamId, isWanted: boolean): boolean {
    if (this.#user.readsForMs(streamId) <= 0) return false
    const forMs = this.#permittedForMs(streamId)
    if (forMs !== undefined) return forMs > 0
    return isWanted || this.#subscribesForMs(streamId) > 0
  }

  /** The stream is in use: when the permission ends it is looked at again. */
  watch(streamId: StreamId): void {
    const permittedMs = this.#permittedForMs(streamId) ?? this.#subscribesForMs(streamId)
    const forMs = Math.min(permittedMs, this.#user.readsForMs(streamId))
    this.#lookIn(streamId, forMs > 0 ? forMs : Infinity)
  }

  unwatch(streamId: StreamId): void {
    this.#watched.get(streamId)?.()
    this.#watched.delete(streamId)
  }

  /** The registry may have changed for one stream or for all. Until it answers, the known rights apply. */
  lookAgain(changed?: StreamId): void {
    for (const streamId of changed === undefined ? [...this.#watched.keys()] : [changed])
      if (this.#watched.has(streamId)) this.#look(streamId)
  }

  close(): void {
    for (const streamId of [...this.#watched.keys()]) this.unwatch(streamId)
  }

  #look(streamId: StreamId): void {
    this.#lookIn(streamId, Infinity)
    const { userId, delegation } = this.#user
    this.#modules.policy.resolve(streamId, userId, undefined, delegation).then(
      () => {
        if (!this.#watched.has(streamId)) return
        this.watch(streamId)
        this.onChange(streamId)
      },
      () => {
        if (this.#watched.has(streamId)) this.#lookIn(streamId, retryMs)
      },
    )
  }

  #lookIn(streamId: StreamId, delayMs: number): void {
    this.#watched.get(streamId)?.()
    const look = () => this.#look(streamId)
    this.#watched.set(streamId, delayMs === Infinity ? () => {} : this.#modules.clock.schedule(delayMs, look))
  }

  #permittedForMs(streamId: StreamId): number | undefined {
    const { userId, delegation } = this.#user
    return this.#modules.policy.readsForMs(streamId, userId, delegation)
  }

  /** By its permission alone. */
  #subscribesForMs(streamId: StreamId): number {
    const { cache, clock } = this.#modules
    const untilMs = cache.peekPermissions(streamId, this.#user.userId)?.subscribeUntilMs ?? Infinity
    return untilMs - clock.now()
  }
}
