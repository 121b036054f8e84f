import type { RunnelClient } from '@runnel/client'
import type { RunnelError } from '@runnel/protocol'
import { nodeError } from '../errors.ts'
import { notice } from './output.ts'

/** Whether a command's client ever got through to a tracker, or to a host that it was given. */
export interface TrackerWatch {
  readonly reached: boolean
  /** Tells nothing more: that connections end when the command does is no news. */
  stop(): void
  /** Throws TRACKER_UNREACHABLE, or HOST_UNREACHABLE, when none was reached. */
  requireReached(): void
}

/** Tells the person at the terminal, once for each tracker or host, that it cannot be reached; the client goes on trying. */
export function watchTrackers(client: RunnelClient): TrackerWatch {
  const failed = new Map<string, string>()
  let isLight = false
  let reached = false
  const notReached = (name: string, error: RunnelError): void => {
    if (failed.has(name)) return
    failed.set(name, error.message)
    notice(`${name}: ${error.message} (${error.code}); trying again`)
  }
  const stopHosts = client.network.on('host', ({ url, state, error }) => {
    isLight = true
    if (state === 'connected') reached = true
    else if (error) notReached(`host ${url}`, error)
  })
  const stopTrackers = client.network.on('tracker', (nodeId, state, error) => {
    if (state === 'connected') reached = true
    else if (error) notReached(`tracker ${nodeId}`, error)
  })
  return {
    get reached() {
      return reached
    },
    stop: () => {
      stopHosts()
      stopTrackers()
    },
    requireReached: () => {
      if (reached) return
      const reasons = [...failed.values()].join('; ')
      if (isLight) throw nodeError('HOST_UNREACHABLE', reasons)
      throw nodeError('TRACKER_UNREACHABLE', reasons || 'none is registered')
    },
  }
}
