import { readFileSync } from 'node:fs'
import type { StorageConfig } from './config.ts'
import { storageError } from './errors.ts'
import type { StoreConfig } from './store/create-store.ts'

/** What the settings say of the store. Throws FILE_UNREADABLE when there is no such password file. */
export function storeConfigOf({ engine, directory, cassandra }: StorageConfig): StoreConfig {
  if (engine === 'sqlite') return { engine, directory }
  const { passwordFile, ...cluster } = cassandra
  const password = passwordFile === undefined ? undefined : readPassword(passwordFile)
  return { engine, ...cluster, password }
}

function readPassword(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (cause) {
    throw storageError('FILE_UNREADABLE', path, { cause })
  }
}
