import fastify from 'fastify'
import type { BrokerConfig } from '../../config/schema.ts'
import type { NodeSnapshot } from '../../snapshot.ts'
import type { Plugin } from '../plugin.ts'
import { createMetrics } from './metrics.ts'

export interface HttpPlugin extends Plugin {
  /** Where it answers, such as `http://127.0.0.1:7171`; undefined before the start. */
  readonly url: string | undefined
}

/** Serves GET /health, /metrics (Prometheus) and /v1/status (JSON). */
export function createHttpPlugin(
  { host, port }: BrokerConfig['http'],
  snapshot: () => NodeSnapshot,
): HttpPlugin {
  const server = fastify({ bodyLimit: 1024, forceCloseConnections: true })
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
      url = await server.listen({ host, port })
    },
    stop: () => server.close(),
    get url() {
      return url
    },
  }
}
