import type { BrokerConfig } from '../../config/schema.ts'
import type { StoreConfig } from './store/create-store.ts'

/** What the settings say of the store. */
export function storeConfigOf({ engine, directory }: BrokerConfig['storage']): StoreConfig {
  return { engine, directory }
}
