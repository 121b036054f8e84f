import fastify, { type FastifyInstance } from 'fastify'
import { z } from 'zod'
import { host, port } from '../../config/fields.ts'
import type { Plugin, PluginContext, PluginDefinition } from '../plugin.ts'
import { notReadyReasons } from '../../readiness.ts'
import { createMetrics } from './metrics.ts'
import { schemaController } from './route-schemas.ts'

/** A stream id in a path is longer than what fastify takes by default. */
const maxPathPartBytes = 1024

const schema = z
  .strictObject({
    enabled: z.boolean().default(true).describe('Whether health, metrics and status are served over HTTP.'),
    host: host('The HTTP server'),
    port: port('The HTTP server', 7171),
  })
  .prefault({})

type HttpConfig = z.output<typeof schema>

export interface HttpPlugin extends Plugin {
  /** Where it answers, such as `http://127.0.0.1:7171`; undefined before the start. */
  readonly url: string | undefined
}

/** Serves GET /health (it runs), /ready (it works: else 503, with the reasons), /metrics (Prometheus), /v1/status (JSON), and the routes of the plugins started before it. */
export const httpPlugin = {
  name: 'http',
  schema,
  create: createHttpPlugin,
} as const satisfies PluginDefinition<HttpConfig, HttpPlugin>

function createHttpPlugin({ host, port }: HttpConfig): HttpPlugin {
  const server = fastify({
    bodyLimit: 1024,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: maxPathPartBytes },
    schemaController,
  })
  let url: string | undefined
  return {
    start: async (context) => {
      addOwnRoutes(server, context)
      for (const plugin of context.started.values()) plugin.routes?.(server)
      url = await server.listen({ host, port })
    },
    stop: () => server.close(),
    get url() {
      return url
    },
  }
}

function addOwnRoutes(server: FastifyInstance, { snapshot, started }: PluginContext): void {
  const ofPlugins = () => new Map([...started].map(([name, plugin]) => [name, plugin.metrics?.() ?? []]))
  const metrics = createMetrics(snapshot, ofPlugins)
  server.get('/health', () => {
    const { nodeId, uptimeMs, trackers, streams, streamParts } = snapshot()
    const connected = trackers.filter((tracker) => tracker.connected).map((tracker) => tracker.nodeId)
    const joined = streams.followed.filter(({ state }) => state === 'joined').length
    const counts = { streams: joined, streamParts: streamParts.length }
    return { status: 'ok', nodeId, uptimeMs, trackers: connected, ...counts }
  })
  server.get('/ready', (_, reply) => {
    const now = snapshot()
    const reasons = notReadyReasons(now)
    const isReady = reasons.length === 0
    return reply.code(isReady ? 200 : 503).send({ ready: isReady, nodeId: now.nodeId, reasons })
  })
  server.get('/metrics', async (_, reply) => reply.type(metrics.contentType).send(await metrics.text()))
  server.get('/v1/status', () => snapshot())
}
