import { setTimeout as delay } from 'node:timers/promises'
import type { Session } from '../session/session.ts'

/** Of one node's messages, as in the thesis: under 100 bytes, 3 s apart. */
const intervalMs = 3_000
const bytes = 64
/** From one pair to the next: 13.6 messages a second, as the thesis had on average. */
const betweenPairsMs = 294

/**
 * As in the thesis, section 5.4.2: two nodes at a time are told to publish, the next two once these have begun. Resolves
 * when all have published, with the number of messages.
 */
export async function publishInPairs(
  session: Session,
  { messages }: { readonly messages: number },
): Promise<number> {
  const { length } = session.nodes
  for (let first = 0; first < length; first += 2) {
    const pair = [first, first + 1].filter((index) => index < length)
    await Promise.all([session.publish(pair, { messages, intervalMs, bytes }), delay(betweenPairsMs)])
  }
  await session.published()
  return length * messages
}
