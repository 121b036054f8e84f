import type { RunnelClient } from '@runnel/client'
import { noPermission } from '@runnel/client/follow'
import { errorLine } from './error-line.ts'
import { notice } from './output.ts'

/** Tells the person at the terminal, each time, that the user may not read a stream any more: nothing comes from then on. Ends with the client. */
export async function tellOfRevocation(client: RunnelClient, streamId: string): Promise<void> {
  const { userId } = client
  let couldRead = true
  for await (const status of client.status()) {
    if (status.type !== 'registry') continue
    // Where the chain does not answer, the next change is looked at.
    const known = await client.permissionsOf(streamId, userId).catch(() => undefined)
    if (known === undefined) continue
    const canRead = known.subscribeUntilMs > Date.now()
    if (couldRead && !canRead)
      notice(errorLine(noPermission('subscribe', userId, streamId, ': it was revoked')))
    couldRead = canRead
  }
}
