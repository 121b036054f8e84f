import type { RunnelClient } from '@runnel/client'
import { isRunnelError } from '@runnel/protocol'
import { errorLine } from './error-line.ts'
import { notice } from './output.ts'

/** Tells the person at the terminal which streams under a prefix come, go or fail, and when there are too many. Ends with the client. */
export async function tellOfPrefix(client: RunnelClient): Promise<void> {
  for await (const status of client.status()) {
    if (status.type !== 'prefix' && status.type !== 'prefix-full') continue
    if (isRunnelError(status.error)) notice(errorLine(status.error))
    else if (status.type === 'prefix' && status.state === 'joined') notice(`subscribed to ${status.streamId}`)
  }
}
