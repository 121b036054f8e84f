import type { RunnelClient } from '@runnel/client'
import type { NodeId } from '@runnel/protocol'
import { nodeError } from '../errors.ts'
import { notice } from './output.ts'

/** Whether a command's client ever got through to a tracker. */
export interface TrackerWatch {
  readonly reached: boolean
  /** Tells nothing more: that connections end when the command does is no news. */
  stop(): void
  /** Throws TRACKER_UNREACHABLE when none was reached. */
  requireReached(): void
}

/** Tells the person at the terminal, once for each tracker, that it cannot be reached; the client goes on trying. */
export function watchTrackers(client: RunnelClient): TrackerWatch {
  const failed = new Map<NodeId, string>()
  let reached = false
  const stop = client.network.on('tracker', (nodeId, state, error) => {
    if (state === 'connected') reached = true
    else if (error && !failed.has(nodeId)) {
      failed.set(nodeId, error.message)
      notice(`tracker ${nodeId}: ${error.message} (${error.code}); trying again`)
    }
  })
  return {
    get reached() {
      return reached
    },
    stop,
    requireReached: () => {
      if (!reached)
        throw nodeError('TRACKER_UNREACHABLE', [...failed.values()].join('; ') || 'none is registered')
    },
  }
}
