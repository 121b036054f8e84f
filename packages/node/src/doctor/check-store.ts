import { existsSync } from 'node:fs'
import { createStore, storeConfigOf, type StorageConfig } from '@runnel/storage'
import { systemClock } from '@runnel/protocol/system'
import { failureOf, ok, type Finding } from './finding.ts'

/** Whether the store of a storage node opens. One that runs has it open. */
export async function checkStore(config: StorageConfig, isRunning: boolean): Promise<Finding> {
  try {
    const store = createStore(storeConfigOf(config), { clock: systemClock })
    const { location } = store
    if (isRunning) return ok('storage', `${location} is in use by this node, which is running`)
    // Looking should leave nothing behind.
    if (config.engine === 'sqlite' && !existsSync(location))
      return ok('storage', `${location} will be created at the start`)
    try {
      await store.open()
    } finally {
      await store.close()
    }
    return ok('storage', `${location} opens`)
  } catch (error) {
    return failureOf('storage', error)
  }
}
