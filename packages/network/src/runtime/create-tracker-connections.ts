import { isRunnelError, type RunnelError } from '@runnel/protocol'
import type { Transport } from '@runnel/transport'
import type { NodeEvent } from '../core/events.ts'
import type { NetworkLimits } from '../limits.ts'
import type { Way } from '../core/tracker-link/way.ts'
import type { Listeners } from './listeners.ts'
import { TrackerConnections, type TrackerConnectionsOptions } from './tracker-connections.ts'

export interface TrackerConnectionsModules {
  readonly transports: readonly Transport[]
  readonly listeners: Listeners
  dispatch(event: NodeEvent): void
  /** A connection has ended. */
  onClosed(way: Way): void
  /** Another process with the key of this node took its place. */
  onReplaced(error: RunnelError): void
}

/** Connections to trackers that tell the core and the listeners what becomes of them. */
export function createTrackerConnections(
  options: { readonly limits: NetworkLimits } & Pick<
    TrackerConnectionsOptions,
    'dialTimeoutMs' | 'isKeyShared' | 'about'
  >,
  { transports, listeners, dispatch, onReplaced, onClosed }: TrackerConnectionsModules,
): TrackerConnections {
  const { limits, dialTimeoutMs, isKeyShared, about } = options
  const heartbeat = {
    pingIntervalMs: limits.trackerPingIntervalMs,
    maxPingIntervalMs: limits.maxTrackerPingIntervalMs,
    maxMissedPongs: limits.trackerMaxMissedPongs,
  }
  const trackers: TrackerConnections = new TrackerConnections(
    { dialTimeoutMs, isKeyShared, about, limits: heartbeat },
    {
      transport: (url) => transports.find((transport) => transport.canDial(url)),
      events: {
        onOpened: (way) => {
          dispatch({ type: 'trackerOpened', way })
          listeners.emit('tracker', way.trackerId, 'connected')
        },
        onClosed: (way, wasOpen, error) => {
          if (wasOpen) onClosed(way)
          const isReplaced = isRunnelError(error, 'NODE_REPLACED')
          // A node that is replaced does not come back.
          if (!isReplaced) dispatch({ type: 'trackerClosed', way, wasOpen })
          // It may be connected by another way.
          if (trackers.waysTo(way.trackerId).length === 0)
            listeners.emit('tracker', way.trackerId, 'disconnected', error)
          if (isReplaced) onReplaced(error)
        },
        onPacket: (way, packet) => dispatch({ type: 'trackerPacket', way, packet }),
        onUnknown: ({ trackerId }, type) => listeners.drop('packets.unknown', `type ${type} of ${trackerId}`),
      },
    },
  )
  return trackers
}
