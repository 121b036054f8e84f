import type { Clock, NodeId, StreamId } from '@runnel/protocol'
import { toNodeId, toStreamId } from '@runnel/protocol'
import { LookupCache, type LookupCacheOptions } from './lookup-cache.ts'
import type { Permissions, RegistryChange, StreamInfo, StreamRegistry } from './ports.ts'

/** Stream ids have no spaces. */
const permissionsKey = (streamId: StreamId, user: NodeId) => `${streamId} ${user}`

/** What the registries say of streams and permissions, remembered until they change. */
export class RegistryCache {
  /** `null`: known not to exist. */
  readonly #streams: LookupCache<StreamId, StreamInfo | null>
  readonly #permissions: LookupCache<string, Permissions>

  constructor(options: LookupCacheOptions, modules: { clock: Clock; streams: StreamRegistry }) {
    const { clock, streams } = modules
    this.#streams = new LookupCache(options, {
      clock,
      load: async (streamId) => (await streams.getStream(streamId)) ?? null,
    })
    this.#permissions = new LookupCache(options, {
      clock,
      load: (key) => {
        const [streamId = '', user = ''] = key.split(' ')
        return streams.permissionsOf(toStreamId(streamId), toNodeId(user))
      },
    })
  }

  /** Undefined when the stream does not exist. Throws what the registry throws when nothing is known. */
  async getStream(streamId: StreamId): Promise<StreamInfo | undefined> {
    return (await this.#streams.get(streamId)) ?? undefined
  }

  /** Throws what the registry throws when nothing is known. */
  permissionsOf(streamId: StreamId, user: NodeId): Promise<Permissions> {
    return this.#permissions.get(permissionsKey(streamId, user))
  }

  /** What is known, at once. */
  peekPermissions(streamId: StreamId, user: NodeId): Permissions | undefined {
    return this.#permissions.peek(permissionsKey(streamId, user))
  }

  /** Forgets what a change made wrong. */
  apply(change: RegistryChange): void {
    switch (change.kind) {
      case 'stream':
        this.#streams.forget((streamId) => streamId === change.streamId)
        this.#permissions.forget((key) => key.startsWith(`${change.streamId} `))
        return
      case 'permissions':
        this.#permissions.forget((key) =>
          change.user === 'public'
            ? key.startsWith(`${change.streamId} `)
            : key === permissionsKey(change.streamId, change.user),
        )
        return
      case 'unknown':
        this.#streams.expireAll()
        this.#permissions.expireAll()
    }
  }

  /** Sizes and losses, for metrics. */
  counters(): Readonly<Record<string, number>> {
    return {
      registryStreamsCached: this.#streams.size,
      registryPermissionsCached: this.#permissions.size,
      registryEntriesEvicted: this.#streams.evicted + this.#permissions.evicted,
    }
  }
}
