import { limits } from '@runnel/protocol'
import fastify, { type FastifyInstance } from 'fastify'
import type { TlsFiles } from '../../cli/tls-files.ts'
import { nodeError } from '../../errors.ts'
import { HostSockets } from '../access/host-sockets.ts'
import type { Gateway } from '../gateway.ts'
import { gatewayLimits } from '../limits.ts'
import { addCors } from './cors.ts'
import { addEventRoutes } from './event-routes.ts'
import { addHistoryRoutes } from './history-routes.ts'
import { openApi } from './openapi.ts'
import { problemOf, waitOf, type Problem } from './problem.ts'
import { addPublishRoutes } from './publish-routes.ts'
import { refuseOtherRoutes } from './other-routes.ts'
import { GatewayRequests } from './requests.ts'

export interface HttpGatewayOptions {
  readonly tls?: TlsFiles | undefined
  /** Asks clients for certificates; whether one is known, the file of keys says. */
  readonly clientCertificates: boolean
  readonly corsOrigins: readonly string[]
  readonly maxConnectionsPerAddress: number
}

/** A stream id in a path is longer than what fastify takes by default. */
const maxPathPartBytes = 1024

/** The server of a gateway, with its routes; nothing listens yet. */
export function buildHttpGateway(options: HttpGatewayOptions, gateway: Gateway): FastifyInstance {
  const { tls, clientCertificates, corsOrigins, maxConnectionsPerAddress } = options
  const common = {
    bodyLimit: limits.maxContentBytes,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: maxPathPartBytes },
  }
  const server: FastifyInstance =
    tls === undefined
      ? fastify(common)
      : fastify({
          ...common,
          // Certificates are known by their fingerprints; nobody has to have signed them.
          https: { ...tls, requestCert: clientCertificates, rejectUnauthorized: false },
        })
  const requests = new GatewayRequests(gateway, corsOrigins)
  server.server.maxConnections = gatewayLimits.maxHttpConnections
  const refuse = () => gateway.counts.refuse('GATEWAY_TOO_MANY_CONNECTIONS')
  server.server.on('drop', refuse)
  new HostSockets(maxConnectionsPerAddress, refuse).watch(server.server)
  server.addHook('onRequest', async (request) => requests.watchBody(request))
  addCors(server, corsOrigins)
  server.addHook('onRequest', async (request, reply) => {
    if (!reply.sent && request.url !== '/openapi.json') requests.admit(request)
  })
  server.removeAllContentTypeParsers()
  server.addContentTypeParser(['application/x-ndjson', 'application/ndjson'], (_, payload, done) =>
    done(null, payload),
  )
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
  server.setErrorHandler((error, _, reply) => {
    const problem = refusalOf(error)
    const waitMs = waitOf(error)
    gateway.counts.refuse(problem.code)
    if (waitMs !== undefined) reply.header('retry-after', Math.ceil(waitMs / 1000))
    // What else comes from somebody without a key is not read.
    if (problem.code === 'GATEWAY_KEY_WRONG' || problem.code === 'GATEWAY_KEY_MISSING')
      reply.headers({ connection: 'close', 'www-authenticate': 'Bearer realm="runnel gateway"' })
    return reply.code(problem.status).type('application/problem+json').send(problem)
  })
  refuseOtherRoutes(server)
  server.get('/openapi.json', () => openApi)
  addPublishRoutes(server, requests, gateway)
  addEventRoutes(server, requests, gateway)
  addHistoryRoutes(server, requests, gateway)
  return server
}

/** What the server itself refuses has a code of its own. */
function refusalOf(error: unknown): Problem {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return problemOf(nodeError('GATEWAY_TOO_LARGE', `at most ${limits.maxContentBytes} bytes`))
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return problemOf(nodeError('GATEWAY_CONTENT_TYPE', 'the header content-type is empty or no media type'))
  if (typeof code === 'string' && code.startsWith('FST_ERR_'))
    return problemOf(nodeError('INPUT_INVALID', code))
  return problemOf(error)
}
