import type { FastifyInstance } from 'fastify'
import { storageConfigSchema, type StorageConfig } from './config.ts'
import type { Metric, PluginContext } from './ports.ts'
import { storageMetrics } from './storage-metrics.ts'
import type { StorageNode } from './storage-node.ts'
import type { StorageStatus } from './storage-status.ts'
import { storeConfigOf } from './store-config.ts'

/** The storage node as a plugin of one broker. */
export interface StoragePlugin {
  /** Resolves when it works, or its store has failed for the first time. */
  start(context: PluginContext): Promise<void>
  /** Idempotent; called also when `start` failed or was never called. */
  stop(): Promise<void>
  /** Undefined before the start. */
  status(): StorageStatus | undefined
  routes(server: FastifyInstance): void
  metrics(): readonly Metric[]
}

/**
 * Stores the messages of the streams that the storage registry assigns to this node, and serves them to users that may subscribe.
 * A failing store is tried again and again; the rest of the node goes on.
 */
export const storagePlugin = {
  name: 'storage',
  schema: storageConfigSchema,
  /** Throws FILE_UNREADABLE when there is no such password file. */
  create: createStoragePlugin,
} as const

function createStoragePlugin(config: StorageConfig): StoragePlugin {
  const store = storeConfigOf(config)
  let node: StorageNode | undefined
  return {
    start: async (context) => {
      // Most nodes store nothing.
      const { createStorageNode } = await import('./create-storage-node.ts')
      node = await createStorageNode(config, store, context)
      await node.start()
    },
    stop: async () => {
      await node?.stop()
    },
    status: () => node?.status(),
    routes: (server) => node?.addRoutes(server),
    metrics: () => (node === undefined ? [] : storageMetrics(node.status())),
  }
}
