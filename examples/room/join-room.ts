import { join } from '../shared/page.ts'
import { roomStep } from './room-key.ts'

/** Joins with the secret behind #. A stream that is encrypted by itself, as ?stream=private, needs none. Throws where the secret is not whole. */
export async function joinRoom(query: URLSearchParams) {
  const path = query.get('stream')
  const contentSteps = path === null ? [await roomStep(location.hash.slice(1))] : []
  const client = await join({}, { contentSteps })
  return { client, path: path ?? 'rooms' }
}

/** Where recordings of a stream are, if the network keeps any. */
export const recordingsOf = (path: string): string => (path === 'rooms' ? 'recordings' : `${path}-recordings`)
