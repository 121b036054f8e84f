/// <reference lib="dom" />
import { generatePrivateKey, parsePrivateKey, toHex } from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import { clientError } from '../errors.ts'

/** How many tabs of one origin have their own key at once; further tabs wait for one of them to close. */
const maxTabs = 64

/** How long a reloaded tab waits for its previous lock to be released. */
const reloadWaitMs = 2000

/**
 * A key that this origin keeps: a tab has the same after a reload, and the next visit the same as the last. Tabs that are
 * open at once have one each, as two nodes with one key would drive each other out. Any script of the origin can read
 * it. Throws STORAGE_BLOCKED where the browser keeps nothing, or the page is not in a secure context.
 */
export async function storedKey(name = 'key'): Promise<string> {
  const { keys, ofTab } = storages()
  const slotName = `runnel-${name}-slot`
  const before = Number(ofTab.getItem(slotName) ?? -1)
  const slot = before >= 0 && (await hold(name, before, reloadWaitMs)) ? before : await freeSlot(name)
  ofTab.setItem(slotName, String(slot))
  return keyIn(keys, `runnel-${name}-${slot}`)
}

function storages(): { readonly keys: Storage; readonly ofTab: Storage } {
  if (typeof navigator.locks?.request !== 'function') throw clientError('STORAGE_BLOCKED', 'no locks here')
  try {
    // Reading the properties is what a browser refuses.
    return { keys: localStorage, ofTab: sessionStorage }
  } catch (cause) {
    throw clientError('STORAGE_BLOCKED', undefined, { cause })
  }
}

async function freeSlot(name: string): Promise<number> {
  for (let slot = 0; slot < maxTabs; slot++) if (await hold(name, slot)) return slot
  throw clientError('STORAGE_BLOCKED', `${maxTabs} tabs hold a key each`)
}

/** Takes the lock of a slot until the page ends. False when another tab has it. */
function hold(name: string, slot: number, waitMs?: number): Promise<boolean> {
  const mode = waitMs === undefined ? { ifAvailable: true } : { signal: AbortSignal.timeout(waitMs) }
  return new Promise((resolve) => {
    navigator.locks
      .request(`runnel-${name}-${slot}`, mode, (lock) => {
        resolve(lock !== null)
        return lock === null ? undefined : new Promise(() => {})
      })
      // The wait timed out.
      .catch(() => resolve(false))
  })
}

function keyIn(keys: Storage, item: string): string {
  const known = keys.getItem(item)
  if (known !== null && isKey(known)) return known
  const key = toHex(generatePrivateKey(systemRandom))
  try {
    keys.setItem(item, key)
  } catch (cause) {
    throw clientError('STORAGE_BLOCKED', 'it is full', { cause })
  }
  return key
}

function isKey(text: string): boolean {
  try {
    parsePrivateKey(text)
    return true
  } catch {
    return false
  }
}
