import type { RunnelClient, UrgentRate } from '@runnel/client'
import type { Clock } from '@runnel/protocol'
import { controlPartition } from './control-partition.ts'
import { pause } from './pause.ts'

/** How long somebody is waited for in a partition: members that are there may not read it. */
const patienceMs = 3_000
/** How far ahead of frames, which are urgent, the catalogue with their track is sent: on its way they overtake it. */
const announceMs = 250

export interface UntilLinkedModules {
  readonly client: Pick<RunnelClient, 'prepare' | 'urgentRate'>
  readonly clock: Clock
  readonly signal: AbortSignal
}

/**
 * Resolves when frames that are sent to a partition from now on reach members that are there; at once where nobody is in the stream, and when the
 * signal aborts. Called when the catalogue has been sent. Rejects as publishing does.
 */
export async function untilLinked(
  streamId: string,
  partition: number,
  { client, clock, signal }: UntilLinkedModules,
): Promise<void> {
  const follow = (partition: number): Promise<UrgentRate> => client.urgentRate(streamId, { partition })
  // Joins the partition, as its first frame would.
  await client.prepare(streamId, null, { partition, urgent: true })
  using control = await follow(controlPartition)
  if (control.kbitPerS === undefined) return
  using rate = await follow(partition)
  const linked = new AbortController()
  rate.on('rate', () => linked.abort())
  if (rate.kbitPerS === undefined) await pause(clock, patienceMs, AbortSignal.any([linked.signal, signal]))
  await pause(clock, announceMs, signal)
}
