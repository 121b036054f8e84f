import type { Clock, NodeId, StreamId } from '@runnel/protocol'
import { toNodeId, toStreamId } from '@runnel/protocol'
import { LookupCache, type LookupCacheOptions } from './lookup-cache.ts'
import type {
  Permissions,
  RegistryChange,
  StorageNodeInfo,
  StorageRegistryReader,
  StreamInfo,
  StreamRegistry,
} from './ports.ts'

/** Stream ids have no spaces. */
const permissionsKey = (streamId: StreamId, user: NodeId) => `${streamId} ${user}`

/** What the registries say of streams, permissions and storage nodes, remembered until they change. */
export class RegistryCache {
  /** `null`: known not to exist. */
  readonly #streams: LookupCache<StreamId, StreamInfo | null>
  readonly #permissions: LookupCache<string, Permissions>
  readonly #storage: LookupCache<StreamId, readonly StorageNodeInfo[]>

  constructor(
    options: LookupCacheOptions,
    modules: { clock: Clock; streams: StreamRegistry; storage: StorageRegistryReader },
  ) {
    const { clock, streams, storage } = modules
    this.#streams = new LookupCache(options, {
      clock,
      load: async (streamId) => (await streams.getStream(streamId)) ?? null,
    })
    this.#permissions = new LookupCache(options, {
      clock,
      isDenial: ({ publishUntilMs, subscribeUntilMs }) => publishUntilMs === 0 && subscribeUntilMs === 0,
      load: (key) => {
        const [streamId = '', user = ''] = key.split(' ')
        return streams.permissionsOf(toStreamId(streamId), toNodeId(user))
      },
    })
    this.#storage = new LookupCache(options, {
      clock,
      load: (streamId) => storage.storageNodesOf(streamId),
    })
  }

  /** Undefined when the stream does not exist. Throws what the registry throws when nothing is known. */
  async getStream(streamId: StreamId): Promise<StreamInfo | undefined> {
    return (await this.#streams.get(streamId)) ?? undefined
  }

  /** `cause` is the neighbour that causes the look-up, if one does. Throws what the registry throws when nothing is known. */
  permissionsOf(streamId: StreamId, user: NodeId, cause?: string): Promise<Permissions> {
    return this.#permissions.get(permissionsKey(streamId, user), cause)
  }

  /** Throws what the registry throws when nothing is known. */
  storageNodesOf(streamId: StreamId): Promise<readonly StorageNodeInfo[]> {
    return this.#storage.get(streamId)
  }

  /** The known value, at once; null when the stream does not exist. */
  peekStream(streamId: StreamId): StreamInfo | null | undefined {
    return this.#streams.peek(streamId)
  }

  /** The known value, at once. */
  peekPermissions(streamId: StreamId, user: NodeId): Permissions | undefined {
    return this.#permissions.peek(permissionsKey(streamId, user))
  }

  /** The known value, at once. */
  peekStorageNodes(streamId: StreamId): readonly StorageNodeInfo[] | undefined {
    return this.#storage.peek(streamId)
  }

  /** Forgets what a change made wrong. */
  apply(change: RegistryChange): void {
    switch (change.kind) {
      case 'trackers':
      case 'nodes':
      case 'delegations':
        return
      case 'stream':
        this.#streams.forget((streamId) => streamId === change.streamId)
        this.#permissions.forget((key) => key.startsWith(`${change.streamId} `))
        this.#storage.forget((streamId) => streamId === change.streamId)
        return
      case 'storage':
        this.#storage.forget(() => true)
        return
      case 'permissions':
        this.#permissions.forget((key) =>
          change.user === 'public'
            ? key.startsWith(`${change.streamId} `)
            : key === permissionsKey(change.streamId, change.user),
        )
        return
      case 'unknown':
        // A value taken back must not be used again, and the registry has just answered.
        for (const cache of [this.#streams, this.#permissions, this.#storage]) cache.forget(() => true)
    }
  }

  /** Sizes and losses, for metrics. */
  counters(): Readonly<Record<string, number>> {
    return {
      registryStreamsCached: this.#streams.size,
      registryPermissionsCached: this.#permissions.size,
      registryStorageCached: this.#storage.size,
      registryEntriesEvicted: this.#streams.evicted + this.#permissions.evicted + this.#storage.evicted,
    }
  }
}
