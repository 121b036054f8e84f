import type { RunnelClient } from '@runnel/client/browser'
import type { LiveLog } from './live-log.ts'

/** Where messages are heard and what becomes of them. */
export interface Hearing {
  readonly streamId: string
  readonly partition: number
  readonly log: LiveLog
  onChange(): void
}

/** Shows every message when it comes, and what it says when that is known. Throws what the client throws. */
export async function hearMessages(
  client: Pick<RunnelClient, 'subscribe'>,
  { streamId, partition, log, onChange }: Hearing,
): Promise<void> {
  // The log sorts by itself: no message waits for one that is missing.
  const options = { partitions: [partition], order: 'arrival' } as const
  await client.subscribe(streamId, { ...options, raw: true }, (message) => {
    log.came(message, Date.now())
    onChange()
  })
  await client.subscribe(streamId, options, (message) => {
    log.opened(message, message.content)
    onChange()
  })
}
