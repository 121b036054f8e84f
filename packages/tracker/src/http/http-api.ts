import { createHash } from 'node:crypto'
import type { Registry } from 'prom-client'
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerFactory,
} from 'fastify'
import { streamPartIdSchema, type NodeId, type StreamPartId } from '@runnel/protocol'
import type { ClusterState, ClusterView } from '../cluster/cluster-view.ts'
import type { TrackerCore } from '../core/tracker-core.ts'
import type { Predictions } from './predictions.ts'
import { notReadyReasons } from './readiness.ts'
import { placesOf, type Places } from './places.ts'
import { RequestRates } from './request-rates.ts'
import { requestSchemas } from './request-schemas.ts'
import { serveStatic, type StaticFiles } from './static-files.ts'
import { topologyView, Views, type NodesQuery, type Page, type StreamPartsQuery } from './views.ts'

/** Limits of the HTTP API. */
export const httpLimits = {
  /** Stream parts or nodes of a topology in one answer; the rest is on further pages. */
  maxPageItems: 1_000,
  /** Nodes in one answer of the list of nodes, each with some of its stream parts. */
  maxPageNodes: 100,
  /** The length of a stream part id with everything in it percent-encoded, and some room. */
  maxParamChars: 1_024,
  /** Longest text to search for in ids: a whole stream part id may be one. */
  maxSearchChars: streamPartIdSchema.maxLength,
  /** Requests have no body. */
  maxBodyBytes: 1_024,
  /** A request that takes longer to arrive is aborted. */
  requestTimeoutMs: 10_000,
  /** A request whose headers, or TLS before them, take longer is aborted. */
  headersTimeoutMs: 5_000,
  /** Headers of one request. */
  maxHeaderBytes: 8_192,
  /** Sockets beyond those of the nodes. */
  maxHttpSockets: 1_024,
  /** Requests on one connection. */
  maxRequestsPerSocket: 10_000,
} as const

export interface HttpApiOptions {
  readonly nodeId: NodeId
  /** Makes the server that fastify uses; the WebSocket listener shares it. */
  readonly serverFactory?: FastifyServerFactory
  /** Where nodes and trackers are. */
  readonly places?: Places
  /** The network that the tracker belongs to, for pages that take part; default: not published. */
  readonly publicNetwork?: unknown
}

const page = (maxItems: number, more: object = {}) => ({
  type: 'object',
  additionalProperties: false,
  properties: {
    ...more,
    offset: { type: 'integer', minimum: 0, maximum: 10_000_000, default: 0 },
    limit: { type: 'integer', minimum: 1, maximum: maxItems, default: maxItems },
  },
})

const contains = { type: 'string', maxLength: httpLimits.maxSearchChars }

const prefix = { type: 'string', pattern: '^(0x?[0-9a-f]{0,40})?$' }

const streamPartParams = {
  type: 'object',
  required: ['id'],
  properties: {
    id: streamPartIdSchema,
  },
}

const noQuery = { type: 'object', additionalProperties: false, properties: {} }

const streamPartUnknown = { code: 'STREAM_PART_UNKNOWN', message: 'No node is in this stream part.' }

const noCluster = { code: 'NO_CLUSTER', message: 'This tracker is in no cluster of trackers.' }

const noDocument = { code: 'NO_DOCUMENT', message: 'This tracker’s network has no signed document.' }

const networkNotTold = {
  code: 'NETWORK_NOT_TOLD',
  message: 'This tracker does not say which network it is in.',
}

const tooManyRequests = {
  code: 'TOO_MANY_REQUESTS',
  message: 'Your network asks for more than it may: ask again in a second.',
}

const tooManyPredictions = {
  code: 'TOO_MANY_PREDICTIONS',
  message: 'Too many stream parts are being predicted: ask again in a few seconds.',
}

/** The public, read-only view of a tracker. A stream part id in a path is percent-encoded. */
export function createHttpApi(
  options: HttpApiOptions,
  modules: {
    readonly core: TrackerCore
    readonly metrics: Registry
    readonly predictions: Predictions
    /** Monotonic milliseconds. */
    nowMs(): number
    /** The cluster of trackers; undefined if the tracker is in none. */
    readonly clusterView?: () => ClusterView | undefined
    /** This tracker's state in it: unlike the view, at no cost. */
    readonly clusterState?: () => ClusterState | undefined
    /** The signed document of the network, as it is now; default: none. */
    readonly networkDocument?: () => string | undefined
    /** The explorer's page; default: none. */
    readonly explorer?: StaticFiles
  },
): FastifyInstance {
  const { core, metrics, predictions, explorer, nowMs } = modules
  const views = new Views(core)
  const rates = new RequestRates()
  const { places = {}, publicNetwork } = options
  const app = fastify({
    bodyLimit: httpLimits.maxBodyBytes,
    routerOptions: { maxParamLength: httpLimits.maxParamChars },
    // An unknown parameter is a typing error that should be reported.
    ajv: { customOptions: { removeAdditional: false } },
    schemaController: requestSchemas,
    ...(options.serverFactory === undefined ? {} : { serverFactory: options.serverFactory }),
  })
  // Everything here is public: a page of any origin may read it.
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('access-control-allow-origin', '*')
  })
  // Limits requests whose cost grows with what is asked for.
  const onRequest = async ({ ip }: FastifyRequest, reply: FastifyReply) => {
    if (rates.allows(ip, nowMs())) return
    core.counters.count('viewsRefused')
    await reply.code(429).header('retry-after', '1').send(tooManyRequests)
  }
  app.get('/health', () => ({
    status: 'ok',
    nodeId: options.nodeId,
    nodes: core.nodes.size,
    streamParts: core.streamParts.size,
  }))
  app.get('/ready', (_request, reply) => {
    const reasons = notReadyReasons(modules.clusterState?.())
    const ready = reasons.length === 0
    return reply.code(ready ? 200 : 503).send({ ready, nodeId: options.nodeId, reasons })
  })
  app.get('/metrics', { onRequest }, async (_request, reply) => {
    reply.type(metrics.contentType)
    return metrics.metrics()
  })
  app.get('/v1/cluster', { onRequest }, (_request, reply) => {
    const view = modules.clusterView?.()
    if (view === undefined) return reply.code(404).send(noCluster)
    const ids = view.trackers.map(({ nodeId }) => nodeId)
    return { ...view, places: placesOf(places, ids) }
  })
  app.get('/v1/network-document', { onRequest }, (request, reply) => {
    const text = modules.networkDocument?.()
    if (text === undefined) return reply.code(404).send(noDocument)
    const tag = `"${createHash('sha256').update(text).digest('base64url')}"`
    reply.header('etag', tag).header('cache-control', 'no-cache').type('application/json')
    return request.headers['if-none-match'] === tag ? reply.code(304).send() : reply.send(text)
  })
  app.get('/v1/network', (_request, reply) => publicNetwork ?? reply.code(404).send(networkNotTold))
  if (explorer !== undefined) serveStatic(app, '/explorer/', explorer)
  app.get<{ Querystring: StreamPartsQuery }>(
    '/v1/stream-parts',
    { schema: { querystring: page(httpLimits.maxPageItems, { contains }) }, onRequest },
    ({ query }) => views.streamParts(query, nowMs()),
  )
  app.get<{ Querystring: NodesQuery }>(
    '/v1/nodes',
    { schema: { querystring: page(httpLimits.maxPageNodes, { prefix }) }, onRequest },
    ({ query }) => views.nodes(query, nowMs()),
  )
  app.get<{ Params: { id: string }; Querystring: Page }>(
    '/v1/stream-parts/:id/topology',
    { schema: { params: streamPartParams, querystring: page(httpLimits.maxPageItems) }, onRequest },
    ({ params, query }, reply) => {
      const part = core.streamParts.get(params.id as StreamPartId)
      if (part === undefined) return reply.code(404).send(streamPartUnknown)
      return topologyView(part, query, places)
    },
  )
  app.get<{ Params: { id: string }; Querystring: Record<string, never> }>(
    '/v1/stream-parts/:id/propagation',
    { schema: { params: streamPartParams, querystring: noQuery }, onRequest },
    async ({ params }, reply) => {
      const part = core.streamParts.get(params.id as StreamPartId)
      if (part === undefined) return reply.code(404).send(streamPartUnknown)
      const prediction = predictions.of(part)
      if (prediction !== undefined) return prediction
      core.counters.count('predictionsRefused')
      return reply.code(503).send(tooManyPredictions)
    },
  )
  return app
}
