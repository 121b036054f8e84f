import { loadCrypto } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import type { FastifyInstance } from 'fastify'
import { storageConfigSchema, type StorageConfig } from './config.ts'
import { OpenedStore } from './opened-store.ts'
import type { Metric, PluginContext } from './ports.ts'
import { storageLimits } from './storage-limits.ts'
import { storageMetrics } from './storage-metrics.ts'
import { StorageNode } from './storage-node.ts'
import type { StorageStatus } from './storage-status.ts'
import { storeConfigOf } from './store-config.ts'
import { createStore } from './store/create-store.ts'

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
  const clock = systemClock
  const store = new OpenedStore(createStore(storeConfigOf(config), { clock }))
  let node: StorageNode | undefined
  return {
    start: async ({ client, logger }) => {
      const crypto = await loadCrypto()
      node = new StorageNode({ ...config, limits: storageLimits }, { client, logger, crypto, clock, store })
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
