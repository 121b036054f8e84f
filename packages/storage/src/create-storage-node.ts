import { loadCrypto } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import type { StorageConfig } from './config.ts'
import { OpenedStore } from './opened-store.ts'
import type { PluginContext } from './ports.ts'
import { storageLimits } from './storage-limits.ts'
import { StorageNode } from './storage-node.ts'
import { createStore, type StoreConfig } from './store/create-store.ts'

/** A storage node with the store that these settings describe; neither is started. */
export async function createStorageNode(
  config: StorageConfig,
  storeConfig: StoreConfig,
  { client, logger }: PluginContext,
): Promise<StorageNode> {
  const clock = systemClock
  const store = new OpenedStore(createStore(storeConfig, { clock }))
  const crypto = await loadCrypto()
  return new StorageNode({ ...config, limits: storageLimits }, { client, logger, crypto, clock, store })
}
