import type { Clock } from '@runnel/protocol'
import { CassandraStore, type CassandraStoreOptions } from './cassandra/cassandra-store.ts'
import { SqliteStore, type SqliteStoreOptions } from './sqlite/sqlite-store.ts'
import type { MessageStore } from './message-store.ts'

/** Which engine keeps the messages, and where. */
export type StoreConfig =
  | ({ readonly engine: 'sqlite' } & SqliteStoreOptions)
  | ({ readonly engine: 'cassandra' } & CassandraStoreOptions)

export interface StoreModules {
  readonly clock: Pick<Clock, 'now'>
}

/** A message store, not opened yet. */
export function createStore(config: StoreConfig, modules: StoreModules): MessageStore {
  return config.engine === 'sqlite' ? new SqliteStore(config) : new CassandraStore(config, modules)
}
