import type { RunnelClient } from '@runnel/client/browser'
import type { LiveLog } from './live-log.ts'

/** Messages read from storage at once. */
const storedMessages = 50

/** Where messages are heard and what becomes of them. */
export interface Hearing {
  readonly streamId: string
  readonly partition: number
  readonly log: LiveLog
  onChange(): void
}

/** Shows every message when it comes, and what it says when that is known. Throws what the client throws. */
export async function hearMessages(
  client: Pick<RunnelClient, 'subscribe' | 'userId'>,
  { streamId, partition, log, onChange }: Hearing,
): Promise<void> {
  // The log sorts by itself: no message waits for one that is missing.
  const options = { partitions: [partition], order: 'arrival' } as const
  await client.subscribe(streamId, { ...options, raw: true }, (message) => {
    log.came(message, Date.now(), message.publisherId === client.userId)
    onChange()
  })
  await client.subscribe(streamId, options, (message) => {
    log.opened(message, message.content)
    onChange()
  })
}

/**
 * Shows the newest stored messages, at once, and what they say when that is known; resolves with how many there are. Throws what the
 * client throws.
 */
export async function showStored(
  client: Pick<RunnelClient, 'resend'>,
  { streamId, partition, log, onChange }: Hearing,
  signal: AbortSignal,
): Promise<number> {
  const read = (raw: boolean) =>
    client.resend(streamId, { last: storedMessages }, { partitions: [partition], signal, raw })
  let found = 0
  for await (const message of read(true)) {
    log.stored(message)
    found++
  }
  onChange()
  for await (const message of read(false)) {
    log.opened(message, message.content)
    onChange()
  }
  return found
}
