import { SqliteStore, type SqliteStoreOptions } from './sqlite/sqlite-store.ts'
import type { MessageStore } from './message-store.ts'

/** Which engine keeps the messages, and where. */
export type StoreConfig = { readonly engine: 'sqlite' } & SqliteStoreOptions

/** A message store, not opened yet. */
export function createStore(config: StoreConfig): MessageStore {
  return new SqliteStore(config)
}
