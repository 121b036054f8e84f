import type { Clock } from '@runnel/protocol'
import { loadCrypto } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import type { FastifyInstance } from 'fastify'
import type { StorageConfig } from './config.ts'
import { OpenedStore } from './opened-store.ts'
import type { PluginContext } from './ports.ts'
import { storageLimits } from './storage-limits.ts'
import { StorageNode } from './storage-node.ts'
import type { StorageStatus } from './storage-status.ts'
import type { MessageStore } from './store/message-store.ts'

/** A plugin as a broker node takes it. */
export interface StoragePlugin {
  readonly name: 'storage'
  /** Resolves when it works, or its store has failed for the first time. */
  start(context: PluginContext): Promise<void>
  /** Idempotent; called also when `start` failed. */
  stop(): Promise<void>
  /** Undefined before the start. */
  status(): StorageStatus | undefined
  /** Adds what it serves over HTTP to the server of the node. */
  addRoutes(server: FastifyInstance): void
}

/**
 * Keeps the messages of the streams that the storage registry assigns to this node, and gives them to those who may
 * subscribe. A store that fails is tried again and again; what the node does besides goes on.
 */
export function createStoragePlugin(
  config: StorageConfig,
  { store, clock = systemClock }: { readonly store: MessageStore; readonly clock?: Clock },
): StoragePlugin {
  let node: StorageNode | undefined
  return {
    name: 'storage',
    start: async ({ client, logger }) => {
      const crypto = await loadCrypto()
      const modules = { client, logger, crypto, clock, store: new OpenedStore(store) }
      node = new StorageNode({ ...config, limits: storageLimits }, modules)
      await node.start()
    },
    stop: async () => {
      await node?.stop()
    },
    status: () => node?.status(),
    addRoutes: (server) => node?.addRoutes(server),
  }
}
