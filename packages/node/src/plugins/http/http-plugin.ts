import fastify, { type FastifyInstance } from 'fastify'
import type { BrokerConfig } from '../../config/schema.ts'
import type { NodeSnapshot } from '../../snapshot.ts'
import type { Plugin } from '../plugin.ts'
import { createMetrics } from './metrics.ts'

/** A stream id in a path is longer than what fastify takes by default. */
const maxPathPartBytes = 1024

export interface HttpPlugin extends Plugin {
  /** Where it answers, such as `http://127.0.0.1:7171`; undefined before the start. */
  readonly url: string | undefined
}

/** Serves GET /health, /metrics (Prometheus), /v1/status (JSON), and what other plugins add. */
export function createHttpPlugin(
  { host, port }: BrokerConfig['http'],
  snapshot: () => NodeSnapshot,
  addRoutes: (server: FastifyInstance) => void = () => {},
): HttpPlugin {
  const server = fastify({
    bodyLimit: 1024,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: maxPathPartBytes },
  })
  const metrics = createMetrics(snapshot)
  let url: string | undefined

  server.get('/health', () => {
    const { nodeId, uptimeMs } = snapshot()
    return { status: 'ok', nodeId, uptimeMs }
  })
  server.get('/metrics', async (_, reply) => reply.type(metrics.contentType).send(await metrics.text()))
  server.get('/v1/status', () => snapshot())
  return {
    name: 'http',
    start: async () => {
      addRoutes(server)
      url = await server.listen({ host, port })
    },
    stop: () => server.close(),
    get url() {
      return url
    },
  }
}
