import type { OwnRecording } from './own-recording.ts'

/** Who somebody is in a room, for as long as the tab is open: a page that is loaded again takes the place of the one before. */
export interface ThisTab {
  /** Tells tabs apart. */
  readonly id: string
  readonly privateKey: string
  readonly name?: string | undefined
  /** The session of the page before. */
  readonly session?: string | undefined
  readonly recording?: OwnRecording | undefined
}

const item = 'runnel-room'
/** How long a page that is loaded again waits for the one before to be gone, also on a busy machine; a duplicated tab joins so much later. */
const patienceMs = 3_000

/** What the tab remembers; a new one, a duplicate of another, or one that may keep nothing, has a new key. */
export async function thisTab(): Promise<ThisTab> {
  const known = remembered()
  if (known !== undefined && (await takes(known.id))) return known
  const tab = { id: randomHex(8), privateKey: `0x${randomHex(32)}` }
  await takes(tab.id)
  return tab
}

/** What somebody was called in the page before. Other tabs may have been joined under other names since. */
export function nameBefore(): string | undefined {
  return remembered()?.name
}

export function rememberTab(tab: ThisTab): void {
  try {
    sessionStorage.setItem(item, JSON.stringify(tab))
  } catch {
    // The page before is let go of when nothing comes of it any more.
  }
}

function remembered(): ThisTab | undefined {
  try {
    const { id, privateKey, ...rest } = JSON.parse(sessionStorage.getItem(item) ?? '') as Partial<ThisTab>
    if (typeof id === 'string' && typeof privateKey === 'string') return { ...rest, id, privateKey }
  } catch {
    // Nothing is kept, or may be read.
  }
  return undefined
}

/**
 * Takes a lock for as long as the page is open. A tab that is duplicated remembers what the first one does, which has the lock: with one key and
 * session, it would take the place of the first.
 */
async function takes(id: string): Promise<boolean> {
  // Elsewhere there are no locks.
  if (!isSecureContext) return true
  return new Promise((resolve) => {
    const isOver = AbortSignal.timeout(patienceMs)
    navigator.locks
      .request(`${item} ${id}`, { signal: isOver }, () => {
        resolve(true)
        return new Promise(() => {})
      })
      .catch(() => resolve(false))
  })
}

const randomHex = (bytes: number): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
