import type { RunnelClient } from '@runnel/client'
import { noPermission } from '@runnel/client/follow'
import type { Clock } from '@runnel/protocol'
import { createSystemClock } from '@runnel/protocol/system'
import { errorLine } from './error-line.ts'
import { notice } from './output.ts'

export interface TellOfRevocationModules {
  readonly clock: Pick<Clock, 'now' | 'schedule'>
  readonly say: (text: string) => void
}

const terminal: TellOfRevocationModules = {
  // A permission that ends in a year does not keep the process.
  clock: createSystemClock({ keepsProcessAlive: false }),
  say: notice,
}

/**
 * Tells the person at the terminal, each time, that the user may not read a stream any more, because that was revoked or its time is over:
 * nothing comes from then on. Ends with the client.
 */
export async function tellOfRevocation(
  client: Pick<RunnelClient, 'userId' | 'status' | 'permissionsOf'>,
  streamId: string,
  { clock, say }: TellOfRevocationModules = terminal,
): Promise<void> {
  const { userId } = client
  const statuses = client.status()
  let couldRead = true
  let cancelEnd = () => {}
  const look = async (isFirst = false) => {
    // Where the chain does not answer, the next change is looked at.
    const known = await client.permissionsOf(streamId, userId).catch(() => undefined)
    if (known === undefined) return
    const { subscribeUntilMs } = known
    const leftMs = subscribeUntilMs - clock.now()
    cancelEnd()
    // Nobody tells of a permission that ends by time.
    cancelEnd = leftMs > 0 && leftMs < Infinity ? clock.schedule(leftMs, () => void look()) : () => {}
    // Whoever may not read from the beginning is refused.
    if (leftMs <= 0 && couldRead && !isFirst)
      say(errorLine(noPermission('subscribe', userId, streamId, endText(subscribeUntilMs))))
    couldRead = leftMs > 0 || isFirst
  }
  await look(true)
  for await (const status of statuses) if (status.type === 'registry') await look()
  cancelEnd()
}

function endText(untilMs: number): string {
  return untilMs > 0 ? `; it ended at ${new Date(untilMs).toISOString()}` : ': it was revoked'
}
