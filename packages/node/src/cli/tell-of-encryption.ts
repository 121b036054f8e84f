import type { RunnelClient } from '@runnel/client'
import { encryptionSentence } from '../encryption-news.ts'
import { errorLine } from './error-line.ts'
import { notice } from './output.ts'

/** Publishers that are named when their messages cannot be opened. */
const maxNamed = 100

/** Tells the person at the terminal what becomes of keys, and, once for each publisher and reason, that messages cannot be opened. Ends with the client. */
export async function tellOfEncryption(client: RunnelClient): Promise<void> {
  const told = new Set<string>()
  for await (const status of client.status()) {
    // A process that publishes begins with a key of its own: that is no news here.
    if (status.type === 'encryption' && status.state !== 'rotated')
      notice(encryptionSentence(status.streamId, status))
    if (status.type !== 'undecodable') continue
    const { publisherId, error } = status
    const name = `${publisherId} ${error.code}`
    if (told.has(name) || told.size === maxNamed) continue
    told.add(name)
    notice(`messages of ${publisherId} are left out: ${errorLine(error)}`)
  }
}
