/// <reference lib="dom" />
import { generatePrivateKey, parsePrivateKey, toHex } from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import { originStore } from './origin-store.ts'

/**
 * Returns a key that this origin keeps: all its tabs have the same key, also after a reload and at the next visit. Each tab's node has a
 * key of its own, so tabs do not disturb each other. Any script of the origin can read the key. Throws STORAGE_BLOCKED if the browser
 * keeps nothing or the page is not in a secure context.
 */
export async function storedKey(name = 'key'): Promise<string> {
  const store = originStore()
  // The number is from the time when each tab had a key of its own.
  const item = `${name}-0`
  return store.exclusively(item, () => {
    const known = store.get(item)
    if (known !== undefined && isKey(known)) return Promise.resolve(known)
    const key = toHex(generatePrivateKey(systemRandom))
    store.set(item, key)
    return Promise.resolve(key)
  })
}

function isKey(text: string): boolean {
  try {
    parsePrivateKey(text)
    return true
  } catch {
    return false
  }
}
