import type { RunnelClient } from '@runnel/client'
import type { RunnelError } from '@runnel/protocol'
import { nodeError } from '../errors.ts'
import { notice } from './output.ts'

/** Whether a command's client ever got through to a tracker, or to a host where it was given any. */
export interface TrackerWatch {
  /** Tells nothing more: that connections end when the command does is no news. */
  stop(): void
  /** Throws TRACKER_UNREACHABLE, or HOST_UNREACHABLE, when none was reached. */
  requireReached(): void
}

/** Tells the person at the terminal, once for each tracker or host, that it cannot be reached; the client goes on trying. */
export function watchTrackers(client: RunnelClient): TrackerWatch {
  const failed = new Map<string, string>()
  let isLight = false
  // A light client asks trackers only where storage nodes are: what it publishes goes to hosts.
  let [hostReached, trackerReached] = [false, false]
  const notReached = (name: string, error: RunnelError): void => {
    if (failed.has(name)) return
    failed.set(name, error.message)
    notice(`${name}: ${error.message} (${error.code}); trying again`)
  }
  const stopHosts = client.network.on('host', ({ url, state, error }) => {
    isLight = true
    if (state === 'connected') hostReached = true
    else if (error) notReached(`host ${url}`, error)
  })
  const stopTrackers = client.network.on('tracker', (nodeId, state, error) => {
    if (state === 'connected') trackerReached = true
    else if (error) notReached(`tracker ${nodeId}`, error)
  })
  return {
    stop: () => {
      stopHosts()
      stopTrackers()
    },
    requireReached: () => {
      if (isLight ? hostReached : trackerReached) return
      const reasons = [...failed.values()].join('; ')
      if (isLight) throw nodeError('HOST_UNREACHABLE', reasons)
      throw nodeError('TRACKER_UNREACHABLE', reasons || 'none is registered')
    },
  }
}
