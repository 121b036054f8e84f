import { isRunnelError } from '@runnel/protocol'
import { memoryStore, type SessionStore } from '../identity/session-store.ts'

/** The same store, but what it has no room for is kept in memory: a user who has just signed something did not do so for nothing. */
export function withRoom(store: SessionStore): SessionStore {
  const memory = memoryStore()
  return {
    ...store,
    get: (name) => memory.get(name) ?? store.get(name),
    set(name, text) {
      memory.remove(name)
      try {
        store.set(name, text)
      } catch (error) {
        if (!isRunnelError(error, 'STORAGE_BLOCKED')) throw error
        memory.set(name, text)
      }
    },
    remove(name) {
      memory.remove(name)
      store.remove(name)
    },
  }
}
