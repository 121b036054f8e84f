import { backoffMs } from '@runnel/protocol'

/** The first such pause; each is twice as long as the one before. */
const minRetryMs = 30_000
/** The longest. */
const maxRetryMs = 600_000

/** Pause before storage nodes are asked once more for what they did not give, or take, so many times in a row. */
export function retryPauseMs(times: number): number {
  return backoffMs(times, minRetryMs, maxRetryMs)
}
