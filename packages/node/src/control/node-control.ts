import type { RunnelClient, Subscription } from '@runnel/client'
import {
  addressOf,
  parseStreamPartId,
  streamPartIdSchema,
  toStreamPartId,
  type StreamPartId,
} from '@runnel/protocol'
import type { FastifyInstance } from 'fastify'
import { nodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { clockQuality } from './clock-quality.ts'
import { MeasurementLog } from './measurement-log.ts'
import { publishSeries, seriesLimits, type Series } from './publish-series.ts'

const joinSchema = {
  type: 'object',
  required: ['streamPartId'],
  additionalProperties: false,
  properties: { streamPartId: streamPartIdSchema },
} as const

const { maxMessages, maxIntervalMs, minBytes, maxBytes } = seriesLimits
const publishSchema = {
  type: 'object',
  required: ['streamPartId', 'messages', 'intervalMs'],
  additionalProperties: false,
  properties: {
    streamPartId: streamPartIdSchema,
    messages: { type: 'integer', minimum: 1, maximum: maxMessages },
    intervalMs: { type: 'integer', minimum: 0, maximum: maxIntervalMs },
    bytes: { type: 'integer', minimum: minBytes, maximum: maxBytes, default: 64 },
  },
} as const

/** What a node says that it measured: the answer to `GET /v1/control/measurements`. */
export type NodeMeasurements = Awaited<ReturnType<NodeControl['measurements']>>

/** Stream parts a node takes part in for experiments. */
const maxJoined = 64

/** What a node does in an experiment: joins, publishes, and remembers what came. */
export class NodeControl {
  readonly #client: RunnelClient
  readonly #logger: Logger
  readonly #log = new MeasurementLog()
  readonly #joined = new Map<StreamPartId, Promise<Subscription>>()
  /** Messages handed to the application, which come once and in order. */
  #delivered = 0
  #published = 0
  #publishing: { readonly done: Promise<void>; readonly stop: AbortController } | undefined
  #unwatch: readonly (() => void)[] = []

  constructor(modules: { readonly client: RunnelClient; readonly logger: Logger }) {
    this.#client = modules.client
    this.#logger = modules.logger
  }

  start(): void {
    const { network } = this.#client
    const isJoined = (id: StreamPartId) => this.#joined.has(id)
    this.#unwatch = [
      network.on('batch', (id, batch, trace) => isJoined(id) && this.#log.accepted(batch, trace, Date.now())),
      network.on('duplicate', (id, batch) => isJoined(id) && this.#log.duplicate(batch)),
    ]
  }

  async stop(): Promise<void> {
    for (const unwatch of this.#unwatch) unwatch()
    await this.reset()
  }

  addRoutes(server: FastifyInstance): void {
    server.post<{ Body: { streamPartId: StreamPartId } }>(
      '/v1/control/join',
      { schema: { body: joinSchema } },
      async ({ body }) => {
        await this.join(toNormal(body.streamPartId))
        return {}
      },
    )
    server.post<{ Body: Series }>(
      '/v1/control/publish',
      { schema: { body: publishSchema } },
      async ({ body }, reply) => {
        await this.publish({ ...body, streamPartId: toNormal(body.streamPartId) })
        return reply.code(202).send({})
      },
    )
    server.get('/v1/control/measurements', () => this.measurements())
    server.post('/v1/control/reset', async () => {
      await this.reset()
      return {}
    })
  }

  /** The node's id and state. */
  info() {
    const { nodeId, network, phases } = this.#client
    const { streamParts, counters } = network.metrics()
    return {
      role: 'node',
      nodeId,
      pid: process.pid,
      uptimeMs: Math.round(process.uptime() * 1000),
      websocketUrl: addressOf(network.contact, 'websocket') ?? '',
      streamParts,
      links: counters['links.open'],
      /** Links whose ages can be trusted: all, once measuring may begin. */
      knownClocks: counters['trace.clocks'],
      phases,
      isPublishing: this.#publishing !== undefined,
    }
  }

  async join(streamPartId: StreamPartId): Promise<void> {
    if (!this.#joined.has(streamPartId) && this.#joined.size >= maxJoined)
      throw nodeError('CONTROL_BUSY', `${maxJoined} stream parts are joined`)
    const { streamId, partition } = parseStreamPartId(streamPartId)
    const joining =
      this.#joined.get(streamPartId) ??
      this.#client.subscribe(streamId, { partitions: [partition] }, () => void this.#delivered++)
    this.#joined.set(streamPartId, joining)
    try {
      await joining
    } catch (error) {
      this.#joined.delete(streamPartId)
      throw error
    }
  }

  /** Resolves when publishing has begun. */
  async publish(series: Series): Promise<void> {
    if (this.#publishing !== undefined) throw nodeError('CONTROL_BUSY', 'it is publishing already')
    const stop = new AbortController()
    const { first, done } = publishSeries(series, {
      client: this.#client,
      signal: stop.signal,
      onPublished: () => this.#published++,
    })
    const ended = done.catch((error: unknown) => this.#logger.warn({ err: error }, 'publishing ended early'))
    this.#publishing = { done: ended, stop }
    void ended.then(() => (this.#publishing = undefined))
    await first
  }

  async measurements() {
    const { nodeId } = this.#client
    return {
      nodeId,
      clock: await clockQuality(),
      isPublishing: this.#publishing !== undefined,
      published: this.#published,
      delivered: this.#delivered,
      dropped: this.#log.dropped,
      messages: this.#log.messages,
    }
  }

  /** Stops publishing, leaves what was joined, forgets what was measured. */
  async reset(): Promise<void> {
    this.#publishing?.stop.abort()
    await this.#publishing?.done
    const joined = [...this.#joined]
    this.#joined.clear()
    for (const [streamPartId, joining] of joined) {
      await (await joining).unsubscribe()
      await this.#client.stopPublishing(parseStreamPartId(streamPartId).streamId)
    }
    this.#log.clear()
    this.#delivered = 0
    this.#published = 0
  }
}

/** The one spelling of a stream part. */
function toNormal(id: StreamPartId): StreamPartId {
  const { streamId, partition } = parseStreamPartId(id)
  return toStreamPartId(streamId, partition)
}
