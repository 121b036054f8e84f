import type { RunnelClient } from '@runnel/client'
import { protocolError } from '@runnel/protocol'
import { errorLine } from './error-line.ts'
import { notice } from './output.ts'

/** Tells the person at the terminal why nothing comes any more: the network does not let the user in, or its delegation has ended. */
export async function tellOfEnd(client: RunnelClient): Promise<void> {
  for await (const status of client.status()) {
    if (status.type === 'admission' && status.error !== undefined) notice(errorLine(status.error))
    if (status.type === 'delegation' && status.state === 'expired')
      notice(errorLine(protocolError('DELEGATION_EXPIRED', client.userId)))
  }
}
