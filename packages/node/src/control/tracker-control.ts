import type { Tracker } from '@runnel/tracker'
import { addCommonRoutes } from './common-routes.ts'
import type { ControlOptions } from './control-options.ts'
import { createControlServer, type ControlServer } from './control-server.ts'
import { clockQuality } from './clock-quality.ts'

/** A tracker that obeys commands by HTTP, for experiments: docs/control.md. */
export function createTrackerControl(
  options: ControlOptions,
  modules: { readonly tracker: Tracker },
): ControlServer {
  const { tracker } = modules
  const info = () => ({
    role: 'tracker',
    nodeId: tracker.nodeId,
    pid: process.pid,
    uptimeMs: Math.round(process.uptime() * 1000),
    websocketUrl: tracker.url,
    streamParts: tracker.overlays.map(({ streamPartId, nodeCount, edgeCount }) => ({
      ...{ streamPartId, nodeCount, edgeCount },
    })),
  })
  return createControlServer(options, (server) => {
    addCommonRoutes(server, info)
    server.get('/v1/control/measurements', async () => ({
      nodeId: tracker.nodeId,
      clock: await clockQuality(),
      overlays: tracker.overlays,
    }))
  })
}
