import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { requireReading, streamOf } from '../callers.ts'
import { messageFields } from '../../cli/message-fields.ts'
import type { Gateway } from '../gateway.ts'
import { StreamReader, type ReaderSink } from '../reading/stream-reader.ts'
import { eventHeaders, EventWriter } from './event-writer.ts'
import { leftOutFields } from '../reading/left-out-fields.ts'
import { problemOf } from './problem.ts'
import { parseQuery, partitionsOf, queries, selectionOf } from './queries.ts'
import type { GatewayRequests } from './requests.ts'

type EventsRequest = FastifyRequest<{ Params: { streamId: string } }>

/** Adds GET /v1/streams/:streamId/events to a server. */
export function addEventRoutes(server: FastifyInstance, requests: GatewayRequests, gateway: Gateway): void {
  const { callers, clock } = gateway

  server.get('/v1/streams/:streamId/events', async (request: EventsRequest, reply) => {
    const account = requests.accountOf(request)
    const query = parseQuery(queries.events, request.query)
    const streamId = streamOf(request.params.streamId, account)
    requireReading(account, streamId)
    if (request.method === 'HEAD') return reply.headers(eventHeaders).send()
    const sent = request.headers['last-event-id'] ?? query['last-event-id']
    // An EventSource that got no id yet sends none; one that is empty means the same.
    const cursor = typeof sent === 'string' && sent !== '' ? sent : undefined
    const resend = cursor === undefined ? selectionOf(query, clock.now()) : undefined
    const writer = new EventWriter(reply.raw, clock)
    const ended = (error: unknown) => {
      void writer.write('ended', JSON.stringify(problemOf(error)))
      writer.end()
    }
    const caller = await callers.stay(account, ended)
    let reader: StreamReader<string> | undefined
    const close = () => {
      void reader?.stop()
      writer.end()
      caller.release()
    }
    reply.raw.once('close', close)
    // It went away while its client was opened.
    if (reply.raw.destroyed) {
      reply.hijack()
      return close()
    }
    try {
      const options = { streamId, partitions: partitionsOf(query.partition), cursor, resend }
      const sink = sinkOf(writer, gateway, ended)
      reader = new StreamReader(options, { client: caller.client, sink, clock })
      await reader.start()
    } catch (error) {
      reply.raw.off('close', close)
      caller.release()
      throw error
    }
    open(reply, writer, reader.cursor)
  })
}

function open(reply: FastifyReply, writer: EventWriter, cursor: string | undefined): void {
  const headers = Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)] as const)
  reply.hijack()
  // It may be gone already; then all is closed.
  if (!reply.raw.destroyed) writer.open(Object.fromEntries(headers), cursor)
}

function sinkOf(
  writer: EventWriter,
  { counts }: Gateway,
  ended: (error: unknown) => void,
): ReaderSink<string> {
  return {
    frame: (message) => {
      const frame = JSON.stringify(messageFields(message))
      return { frame, bytes: Buffer.byteLength(frame) }
    },
    send: (frame, cursor) => {
      counts.delivered++
      return writer.write(undefined, frame, cursor)
    },
    gap: (gap) => void writer.write('gap', JSON.stringify(gap)),
    undecodable: (last, count) => writer.write('undecodable', JSON.stringify(leftOutFields(last, count))),
    lost: (error) => void writer.write('lost', JSON.stringify(problemOf(error))),
    ended: (error) => {
      counts.noteEnd(error)
      ended(error)
    },
  }
}
