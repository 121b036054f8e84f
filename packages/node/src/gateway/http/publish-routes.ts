import { isUtf8 } from 'node:buffer'
import { clientError } from '@runnel/client'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { nodeError } from '../../errors.ts'
import { streamOf } from '../callers.ts'
import { gatewayLimits } from '../limits.ts'
import { publishBulk } from '../publishing/bulk.ts'
import { contentOf, kindOfMediaType } from '../publishing/content.ts'
import type { PublishAnswer } from '../publishing/gateway-publisher.ts'
import type { Gateway } from '../gateway.ts'
import type { GatewayRequests } from './requests.ts'
import { parseQuery, queries } from './queries.ts'

type StreamRequest = FastifyRequest<{ Params: { streamId: string } }>

/** Adds POST /v1/streams/:streamId/messages and DELETE /v1/streams/:streamId/last to a server. */
export function addPublishRoutes(server: FastifyInstance, requests: GatewayRequests, gateway: Gateway): void {
  const { callers, publisher, idempotency } = gateway

  server.post('/v1/streams/:streamId/messages', async (request: StreamRequest, reply) => {
    const account = requests.accountOf(request)
    const { wait, timeoutMs, ...options } = parseQuery(queries.publish, request.query)
    const streamId = streamOf(request.params.streamId, account)
    publisher.requireAllowed(account, streamId)
    const headers = messageHeadersOf(request)
    const kind = kindOfMediaType(request.headers['content-type'])
    const key = idempotencyKeyOf(request)
    if (kind === 'ndjson') {
      if (key ?? wait)
        throw clientError('INVALID_ARGUMENT', 'many messages go with neither an Idempotency-Key nor wait')
      const ended = new AbortController()
      const { client, release } = await callers.stay(account, (why) => ended.abort(why))
      const target = { account, client, streamId, options: { ...options, headers }, signal: ended.signal }
      const result = await publishBulk(requests.pieces(request), target, gateway).finally(release)
      if (result.problem !== undefined) reply.code(result.problem.status).header('connection', 'close')
      return result
    }
    const { client, release } = await requests.enter(account)
    try {
      const body = (request.body as Buffer | null) ?? Buffer.alloc(0)
      const publish = async (): Promise<PublishAnswer> => {
        const given = contentOf(body, kind)
        publisher.requireRoom(account, body.length)
        return publisher.publish(client, {
          ...{ streamId, ...given, bytes: body.length },
          options: { ...options, headers },
        })
      }
      const what = [streamId, JSON.stringify([options, headers]), kind, body]
      const answer = await (key === undefined
        ? publish()
        : idempotency.once(account.name, key, what, publish))
      return wait === undefined ? answer : await publisher.waitUntilStored(client, answer, timeoutMs)
    } finally {
      release()
    }
  })

  server.post('/v1/streams/:streamId/batches', async (request: StreamRequest) => {
    const account = requests.accountOf(request)
    const streamId = streamOf(request.params.streamId, account)
    publisher.requireAllowed(account, streamId)
    if (kindOfMediaType(request.headers['content-type']) !== 'binary')
      throw nodeError('GATEWAY_CONTENT_TYPE', 'a batch is application/octet-stream')
    const caller = await requests.enter(account)
    try {
      const batch = new Uint8Array((request.body as Buffer | null) ?? [])
      return await publisher.relay(caller, streamId, batch, delegationOf(request))
    } finally {
      caller.release()
    }
  })

  server.delete('/v1/streams/:streamId/last', async (request: StreamRequest) => {
    const account = requests.accountOf(request)
    const { partition, key } = parseQuery(queries.remove, request.query)
    const streamId = streamOf(request.params.streamId, account)
    publisher.requireAllowed(account, streamId)
    publisher.requireRoom(account, 0)
    const { client, release } = await requests.enter(account)
    try {
      const options = { partition, key }
      return await publisher.publish(client, { streamId, content: null, bytes: 0, options, isRemoval: true })
    } finally {
      release()
    }
  })
}

/** `runnel-header-NAME: value` says something beside the content; names are in lower case, as HTTP has them. */
function messageHeadersOf({ headers }: FastifyRequest): Readonly<Record<string, string>> | undefined {
  const prefix = 'runnel-header-'
  const found = Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith(prefix) && value !== undefined
      ? [[name.slice(prefix.length), headerText(String(value))] as const]
      : [],
  )
  return found.length === 0 ? undefined : Object.fromEntries(found)
}

/** Node.js reads values as Latin-1, as browsers send them; most other clients send UTF-8. */
function headerText(value: string): string {
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : value
}

function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key === 'string' && key !== '' && key.length <= gatewayLimits.maxIdempotencyKeyChars) return key
  throw nodeError(
    'INPUT_INVALID',
    `an Idempotency-Key has 1 to ${gatewayLimits.maxIdempotencyKeyChars} characters`,
  )
}

/** `runnel-delegation`, hexadecimal: what a batch is signed under. Throws INPUT_INVALID. */
function delegationOf({ headers }: FastifyRequest): Uint8Array | undefined {
  const text = headers['runnel-delegation']
  if (text === undefined) return undefined
  if (typeof text === 'string' && /^(?:[0-9a-f]{2})+$/i.test(text))
    return new Uint8Array(Buffer.from(text, 'hex'))
  throw nodeError('INPUT_INVALID', 'runnel-delegation has hexadecimal digits')
}
