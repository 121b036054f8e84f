/** Who somebody is in a room, for as long as the tab is open: a page that is loaded again takes the place of the one before. */
export interface ThisTab {
  readonly privateKey: string
  /** The session of the page before. */
  readonly session?: string | undefined
}

const item = 'runnel-room'

/** What the tab remembers; a new one, or one that may keep nothing, has a new key. */
export function thisTab(): ThisTab {
  try {
    const known = JSON.parse(sessionStorage.getItem(item) ?? '') as Partial<ThisTab>
    const { privateKey, session } = known
    if (typeof privateKey === 'string') return { privateKey, session }
  } catch {
    // Nothing is kept, or may be read.
  }
  return { privateKey: `0x${hexOf(crypto.getRandomValues(new Uint8Array(32)))}` }
}

export function rememberTab(tab: ThisTab): void {
  try {
    sessionStorage.setItem(item, JSON.stringify(tab))
  } catch {
    // The page before is let go of when nothing comes of it any more.
  }
}

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
