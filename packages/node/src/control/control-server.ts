import { createHash, timingSafeEqual } from 'node:crypto'
import { rmSync } from 'node:fs'
import { isRunnelError } from '@runnel/protocol'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { nodeError } from '../errors.ts'
import { controlToken, isLoopback, type ControlOptions } from './control-options.ts'
import { listenPrivately } from './private-socket.ts'

/** Bounds of the control API. @documented */
export const controlLimits = {
  /** The longest request: a list of addresses to ping. */
  maxBodyBytes: 256 * 1024,
  /** A request that takes longer to arrive is cut off. */
  requestTimeoutMs: 10_000,
  /** Connections open at a time. */
  maxConnections: 64,
} as const

/** What a mistake of the asker is answered with; anything else is 500. */
const statusOf: Readonly<Record<string, number>> = {
  ...{ INVALID_ARGUMENT: 400, INVALID_STREAM_ID: 400, INVALID_PARTITION: 400, INPUT_INVALID: 400 },
  ...{ CONTROL_REFUSED: 401, NOT_PERMITTED: 403, STREAM_NOT_FOUND: 404, CONTROL_BUSY: 409 },
}

/** An HTTP server that does what it is told: for experiments, and only where somebody switched it on. */
export interface ControlServer {
  /** Where it answers, `http://…` or `unix:…`; undefined before the start. */
  readonly url: string | undefined
  /** Throws CONFIG_INVALID where it would be open to strangers. */
  start(): Promise<void>
  /** Idempotent. */
  stop(): Promise<void>
}

/** Sets the server up with routes of whoever is controlled; nothing listens before `start`. */
export function createControlServer(
  options: ControlOptions,
  addRoutes: (server: FastifyInstance) => void,
): ControlServer {
  const { socket, host, port } = options
  let server: FastifyInstance | undefined
  let url: string | undefined
  return {
    start: async () => {
      const token = controlToken(options)
      const built = (server = buildServer(token))
      addRoutes(built)
      if (socket === undefined) url = await built.listen({ host, port })
      else {
        await listenPrivately(socket, (path) => built.listen({ path }))
        url = `unix:${socket}`
      }
    },
    stop: async () => {
      await server?.close()
      if (socket !== undefined && url !== undefined) rmSync(socket, { force: true })
      url = undefined
    },
    get url() {
      return url
    },
  }
}

function buildServer(token: string | undefined): FastifyInstance {
  const { maxBodyBytes, requestTimeoutMs, maxConnections } = controlLimits
  const server = fastify({
    bodyLimit: maxBodyBytes,
    requestTimeout: requestTimeoutMs,
    forceCloseConnections: true,
    ajv: { customOptions: { removeAdditional: false } },
  })
  server.server.maxConnections = maxConnections
  // Pages can send text and forms anywhere; JSON they cannot without asking first, and are not answered.
  server.removeContentTypeParser('text/plain')
  server.addHook('onRequest', async (request) => admit(request, token))
  server.setErrorHandler((error, _request, reply) => refuse(error, reply))
  return server
}

/** Throws CONTROL_REFUSED. Without a token it may be only this machine, and no page that calls its own name 127.0.0.1. */
function admit({ headers, method }: FastifyRequest, token: string | undefined): void {
  if (token !== undefined) {
    if (!isSame(headers.authorization ?? '', `Bearer ${token}`))
      throw nodeError('CONTROL_REFUSED', 'no token')
  } else if (!isLoopback((headers.host ?? '').replace(/:\d+$/, '').replace(/^\[|\]$/g, ''))) {
    throw nodeError('CONTROL_REFUSED', 'without a token only as localhost')
  }
  if (headers.origin !== undefined) throw nodeError('CONTROL_REFUSED', 'not for pages')
  if (method === 'POST' && headers['content-type']?.startsWith('application/json') !== true)
    throw nodeError('INPUT_INVALID', 'a POST needs a body of type application/json')
}

function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}

function refuse(error: unknown, reply: FastifyReply): FastifyReply {
  if (isRunnelError(error)) {
    const { code, message, remedy } = error
    return reply.code(statusOf[code] ?? 500).send({ code, message, remedy })
  }
  const { statusCode = 500, message } = error as { statusCode?: number; message: string }
  const code = statusCode < 500 ? 'INPUT_INVALID' : 'INTERNAL'
  return reply.code(statusCode).send({ code, message, remedy: 'See docs/control.md.' })
}
