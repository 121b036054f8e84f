import type { RunnelClient, UrgentRate } from '@runnel/client'
import type { Clock } from '@runnel/protocol'
import { controlPartition } from './control-partition.ts'
import { pause } from './pause.ts'

/** How long a link is waited for: members that are there may not read the partition, trackers may not answer, and live pipes keep the delay. */
const patienceMs = 1_000
/** How far ahead of frames, which are urgent, the catalogue with their track is sent: on its way they overtake it. */
const announceMs = 250

export interface UntilLinkedModules {
  readonly client: Pick<RunnelClient, 'prepare' | 'urgentRate'>
  readonly clock: Clock
  readonly signal: AbortSignal
}

/**
 * Resolves when a partition has its first link to a member, after 1.25 s at the latest; at once where nobody is in the stream, and when the signal
 * aborts. `said`: resolves when the catalogue has been sent. Rejects as publishing does.
 */
export async function untilLinked(
  streamId: string,
  partition: number,
  said: Promise<void>,
  { client, clock, signal }: UntilLinkedModules,
): Promise<void> {
  const done = new AbortController()
  const over = AbortSignal.any([done.signal, signal])
  const link = async (): Promise<boolean> => {
    await said
    return firstLink(streamId, partition, client, over)
  }
  try {
    const isAnyoneThere = await Promise.race([link(), pause(clock, patienceMs, over).then(() => true)])
    if (isAnyoneThere) await pause(clock, announceMs, signal)
  } finally {
    done.abort()
  }
}

/** Resolves when there is a link, or the signal aborts; to false where nobody is in the stream. */
async function firstLink(
  streamId: string,
  partition: number,
  client: UntilLinkedModules['client'],
  signal: AbortSignal,
): Promise<boolean> {
  const follow = (partition: number): Promise<UrgentRate> => client.urgentRate(streamId, { partition })
  // Joins the partition, as its first frame would.
  await client.prepare(streamId, null, { partition, urgent: true })
  using control = await follow(controlPartition)
  if (control.kbitPerS === undefined) return false
  using rate = await follow(partition)
  if (rate.kbitPerS === undefined && !signal.aborted)
    await new Promise<void>((resolve) => {
      rate.on('rate', () => resolve())
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  return true
}
