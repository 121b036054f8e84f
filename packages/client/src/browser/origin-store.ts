/// <reference lib="dom" />
import { clientError } from '../errors.ts'
import { abortable } from '../identity/abortable.ts'
import type { SessionStore } from '../identity/session-store.ts'

/**
 * Returns the store of this origin, in `localStorage`, for all its tabs. Any script of the origin can read it: a browser holds no key of
 * this curve that scripts cannot read, and every script of the origin could use a key that it does hold (AES, to seal the other with). So
 * a delegation should end soon. Throws STORAGE_BLOCKED if the browser keeps nothing or the page is not in a secure context.
 */
export function originStore(): SessionStore {
  if (typeof navigator.locks?.request !== 'function') throw clientError('STORAGE_BLOCKED', 'no locks here')
  const storage = openStorage()
  return {
    get: (name) => storage.getItem(`runnel-${name}`) ?? undefined,
    set(name, text) {
      try {
        storage.setItem(`runnel-${name}`, text)
      } catch (cause) {
        throw clientError('STORAGE_BLOCKED', 'it is full', { cause })
      }
    },
    remove: (name) => storage.removeItem(`runnel-${name}`),
    exclusively: (name, run, signal) =>
      abortable(navigator.locks.request(`runnel-${name}`, signal ? { signal } : {}, run), signal),
  }
}

function openStorage(): Storage {
  let storage: Storage | null
  try {
    // Reading the property is what a browser refuses.
    storage = localStorage
  } catch (cause) {
    throw clientError('STORAGE_BLOCKED', undefined, { cause })
  }
  // In apps that show pages without letting them store anything.
  if (storage === null) throw clientError('STORAGE_BLOCKED')
  return storage
}
