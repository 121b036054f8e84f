import { storedKey } from '@runnel/client/browser'
import { join } from '../shared/page.ts'
import { roomStep } from './room-key.ts'
import type { ThisTab } from './this-tab.ts'

/**
 * Joins with the secret behind #. A stream that is encrypted by itself, as ?stream=private, needs none; there the browser keeps the key of the
 * user, to whom permissions are given. Throws where the secret is not whole.
 */
export async function joinRoom(query: URLSearchParams, tab: Pick<ThisTab, 'privateKey'>) {
  const path = query.get('stream')
  const contentSteps = path === null ? [await roomStep(location.hash.slice(1))] : []
  const privateKey = path === null ? tab.privateKey : await storedKey()
  const client = await join({ privateKey }, { contentSteps })
  return { client, path: path ?? 'rooms' }
}

/** Where recordings of a stream are, if the network keeps any. */
export const recordingsOf = (path: string): string => (path === 'rooms' ? 'recordings' : `${path}-recordings`)
