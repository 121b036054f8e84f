import type { FastifyInstance } from 'fastify'

const exposed = { 'access-control-expose-headers': 'retry-after' }
/** Of what is asked before a request. */
const allowed = {
  'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
  'access-control-max-age': '600',
}

/** Lets pages of these origins use the gateway (Fetch, 3.2): `*` is all, none is nobody. Keys are needed all the same. */
export function addCors(server: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return
  server.addHook('onRequest', async (request, reply) => {
    const { origin } = request.headers
    if (origin === undefined || !isAllowedOrigin(origin, origins)) return
    reply.headers({ ...exposed, 'access-control-allow-origin': origin, vary: 'origin' })
    if (request.method === 'OPTIONS') {
      // Any header: messages may have some of any name.
      const asked = request.headers['access-control-request-headers'] ?? ''
      await reply
        .code(204)
        .headers({ ...allowed, 'access-control-allow-headers': asked })
        .send()
    }
  })
}

function isAllowedOrigin(origin: string, origins: readonly string[]): boolean {
  return origins.includes('*') || origins.includes(origin)
}
