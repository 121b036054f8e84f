import { Readable } from 'node:stream'
import { clientError, type Message, type ResendOptions } from '@runnel/client'
import type { Cancel } from '@runnel/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { messageFields } from '../../cli/message-fields.ts'
import { nodeError } from '../../errors.ts'
import type { GatewayAccount } from '../access/account.ts'
import { requireReading, streamOf, type Caller } from '../callers.ts'
import type { Gateway } from '../gateway.ts'
import { gatewayLimits } from '../limits.ts'
import { LeftOut } from '../reading/left-out.ts'
import { parseQuery, partitionsOf, publisherOf, queries, selectionOf } from './queries.ts'
import type { GatewayRequests } from './requests.ts'

type StreamRequest = FastifyRequest<{ Params: { streamId: string } }>

type ReadOptions = Required<Pick<ResendOptions, 'signal' | 'onUndecodable' | 'onGap'>>

/** Bytes prepared for a reader that does not take them yet. */
const readAheadBytes = 64 * 1024

/** Adds GET /v1/streams/:streamId/messages, /last and /table to a server. */
export function addHistoryRoutes(server: FastifyInstance, requests: GatewayRequests, gateway: Gateway): void {
  const { callers, clock, counts } = gateway
  const streamIdOf = (request: StreamRequest, account: GatewayAccount) => {
    const streamId = streamOf(request.params.streamId, account)
    requireReading(account, streamId)
    return streamId
  }

  server.get('/v1/streams/:streamId/messages', async (request: StreamRequest, reply) => {
    const account = requests.accountOf(request)
    const query = parseQuery(queries.history, request.query)
    const streamId = streamIdOf(request, account)
    const selection = selectionOf(query, clock.now())
    if (selection === undefined)
      throw clientError('INVALID_ARGUMENT', 'give last=N, or from=… and perhaps to=…')
    const filter = { partitions: partitionsOf(query.partition), publisherId: publisherOf(query.publisher) }
    return lines(reply, account, ({ client }, how) =>
      client.resend(streamId, selection, { ...filter, ...how }),
    )
  })

  server.get('/v1/streams/:streamId/table', async (request: StreamRequest, reply) => {
    const account = requests.accountOf(request)
    const { partition } = parseQuery(queries.table, request.query)
    const streamId = streamIdOf(request, account)
    const partitions = partitionsOf(partition)
    // A table is of single values: what lies between them is not missing.
    return lines(reply, account, ({ client }, { signal, onUndecodable }) =>
      client.table(streamId, { partitions, signal, onUndecodable }),
    )
  })

  server.get('/v1/streams/:streamId/last', async (request: StreamRequest) => {
    const account = requests.accountOf(request)
    const query = parseQuery(queries.last, request.query)
    const streamId = streamIdOf(request, account)
    const { client, release } = await requests.enter(account)
    try {
      const message = await client.last(streamId, query)
      if (message === undefined) throw nodeError('NO_LAST_VALUE', query.key ?? streamId)
      counts.delivered++
      return messageFields(message)
    } finally {
      release()
    }
  })

  /** Answers with a message a line, read as they are taken, and at the end with what was left out, a reason a line. */
  async function lines(
    reply: FastifyReply,
    account: GatewayAccount,
    read: (caller: Caller, how: ReadOptions) => AsyncGenerator<Message, void, undefined>,
  ) {
    const gone = new AbortController()
    const caller = await callers.stay(account, () => reply.raw.destroy())
    let cancelIdle: Cancel = () => {}
    const tookSome = () => {
      cancelIdle()
      if (!gone.signal.aborted) cancelIdle = clock.schedule(gatewayLimits.idleMs, () => reply.raw.destroy())
    }
    reply.raw.once('close', () => {
      gone.abort()
      cancelIdle()
      caller.release()
    })
    // It went away while its client was opened.
    if (reply.raw.destroyed) {
      reply.hijack()
      return caller.release()
    }
    const leftOut = new LeftOut()
    const { add: onUndecodable, addGap: onGap } = leftOut
    const messages = read(caller, { signal: gone.signal, onUndecodable, onGap })
    // What is wrong with the request is known with the first message: an answer that has begun has no status left.
    const first = await messages.next()
    async function* texts() {
      for (let next = first; !next.done; next = await messages.next()) {
        counts.delivered++
        yield `${JSON.stringify(messageFields(next.value))}\n`
        tookSome()
      }
      for (const fields of leftOut.fields()) yield `${JSON.stringify(fields)}\n`
    }
    tookSome()
    const body = Readable.from(texts(), { objectMode: false, highWaterMark: readAheadBytes })
    return reply.type('application/x-ndjson').send(body)
  }
}
