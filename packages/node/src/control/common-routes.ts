import type { FastifyInstance } from 'fastify'
import { ping } from './ping.ts'

/** Bounds of a ping request. @documented */
export const pingLimits = {
  /** Addresses in one request. */
  maxTargets: 4_096,
  /** Pings of each address. */
  maxCount: 100,
  /** How long a ping may be waited for. */
  maxTimeoutMs: 60_000,
  /** Addresses pinged at a time. */
  concurrency: 16,
} as const

interface PingRequest {
  readonly targets: readonly string[]
  readonly count: number
  readonly timeoutMs: number
}

const pingSchema = {
  type: 'object',
  required: ['targets'],
  additionalProperties: false,
  properties: {
    targets: {
      type: 'array',
      maxItems: pingLimits.maxTargets,
      items: { type: 'string', maxLength: 260, pattern: '^[A-Za-z0-9._:-]+:[0-9]{1,5}$' },
    },
    count: { type: 'integer', minimum: 1, maximum: pingLimits.maxCount, default: 5 },
    timeoutMs: { type: 'integer', minimum: 1, maximum: pingLimits.maxTimeoutMs, default: 5_000 },
  },
} as const

/** Control requests that nodes and trackers share: identify, ping and stop. */
export function addCommonRoutes(server: FastifyInstance, info: () => object): void {
  server.get('/v1/control', () => info())
  server.post<{ Body: PingRequest }>(
    '/v1/control/ping',
    { schema: { body: pingSchema } },
    async ({ body }) => {
      const { concurrency } = pingLimits
      return { results: await ping(body.targets, { ...body, concurrency }) }
    },
  )
  server.post('/v1/control/stop', (_request, reply) => {
    // As if the terminal or systemd had asked; answered first.
    reply.raw.once('close', () => process.kill(process.pid, 'SIGTERM'))
    return reply.code(202).send({})
  })
}
