import type { LoadPlan } from '../core/plan.ts'
import { stamped } from '../core/stamp.ts'
import { preciseNow } from '../load/metronome.ts'
import { withOneClient } from './one-client.ts'
import type { Target } from './target.ts'

/** How long storage nodes may take to store those of one overlay. */
export const storedTimeoutMs = 60_000

/** Publishes what readers of history will read, and waits until it is stored. Throws NO_STORAGE_NODE, NOT_STORED_IN_TIME, and what `publish` throws. */
export function prefill(
  target: Target,
  plan: LoadPlan,
  {
    messages,
    sizeBytes,
    signal,
  }: { readonly messages: number; readonly sizeBytes: number; readonly signal: AbortSignal },
): Promise<void> {
  return withOneClient(target, async (client) => {
    for (const { streamId, partition } of plan.parts) {
      const { runId, sender, clients } = plan
      const contents = Array.from({ length: messages }, (_, count) => {
        // No user of the run has this number: nobody leaves the messages out as its own.
        const stamp = { runId, sender, user: clients, flow: 0, count, intendedMs: preciseNow() }
        return stamped(stamp, sizeBytes)
      })
      await client.publishMany(streamId, contents.slice(0, -1), { partition, signal })
      const last = await client.publish(streamId, contents.at(-1), { partition, signal })
      await client.waitForStorage(last, { timeoutMs: storedTimeoutMs, signal })
    }
  })
}
