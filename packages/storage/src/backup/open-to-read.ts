import { createStore, type StoreConfig, type StoreModules } from '../store/create-store.ts'
import { messageFileIn, SqliteFile, type ReadableStore } from '../store/sqlite/sqlite-file.ts'

/** The store of a node, which may run meanwhile. Throws what a store throws. */
export async function openToRead(config: StoreConfig, modules: StoreModules): Promise<ReadableStore> {
  if (config.engine === 'sqlite') return SqliteFile.open(messageFileIn(config.directory))
  const store = createStore(config, modules)
  await store.open()
  return store
}
