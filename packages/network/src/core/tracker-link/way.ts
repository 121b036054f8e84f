import { circuitUrl, maxCircuitTrackers, type NodeId } from '@runnel/protocol'
import type { TrackerAddress } from '../../ports.ts'

/** One URL at which a tracker can be dialled: its own, or that of a circuit over other trackers. */
export interface Way {
  /** Unique for each way. */
  readonly key: string
  readonly trackerId: NodeId
  readonly url: string
  /** The trackers that a circuit passes, the dialled one first; empty for the tracker's own URL. */
  readonly via: readonly NodeId[]
}

function wayTo(trackerId: NodeId, url: string, via: readonly NodeId[]): Way {
  return { key: `${trackerId} ${url}`, trackerId, url, via }
}

export function directWay({ nodeId, url }: TrackerAddress): Way {
  return wayTo(nodeId, url, [])
}

/**
 * The way to a tracker over the one that `over` leads to; undefined when it would pass too many. `baseUrl` is the first
 * one's.
 */
export function circuitOver(over: Way, baseUrl: string, trackerId: NodeId): Way | undefined {
  const via = [...over.via, over.trackerId]
  if (via.length > maxCircuitTrackers) return undefined
  return wayTo(trackerId, circuitUrl(baseUrl, [...via.slice(1), trackerId]), via)
}
