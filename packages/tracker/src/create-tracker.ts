import { setImmediate } from 'node:timers/promises'
import type { FastifyServerFactory } from 'fastify'
import {
  countsCapability,
  guardedClock,
  nodeIdFromBytes,
  openOffersCapability,
  reportsCapability,
  type Clock,
  type Crypto,
  type Identity,
  type NodeAdmission,
  type NodeId,
  type Random,
} from '@runnel/protocol'
import { CircuitListener, listen, WebSocketTransport, type ConnectionModules } from '@runnel/transport'
import { Cluster } from './cluster/cluster.ts'
import type { TrackerRegistryView } from './cluster/ports.ts'
import { TrackerCore } from './core/tracker-core.ts'
import { trackerError } from './errors.ts'
import { createHttpApi, httpLimits } from './http/http-api.ts'
import { closeServer, createHttpServer, urlOf } from './http/http-server.ts'
import { addClusterMetrics, addConnectionMetrics, createMetrics } from './http/metrics.ts'
import { checkPlaces } from './http/places.ts'
import { loadStaticFiles } from './http/static-files.ts'
import { topologyView, type TopologyView } from './http/views.ts'
import { createIceServerSource } from './ice/ice-server-source.ts'
import { predictionLimits, Predictions } from './http/predictions.ts'
import { silentLogger, type TrackerLogger } from './logger.ts'
import {
  checkDegree,
  checkProcessingMs,
  defaultTrackerOptions,
  resolveClusterLimits,
  resolveLimits,
  resolveOverlays,
  type TrackerOptions,
} from './options.ts'
import { KnownStreams, type StreamSource } from './runtime/known-streams.ts'
import { StallGuard } from './runtime/stall-guard.ts'
import { registryAnswers } from './runtime/registry-answers.ts'
import { TrackerRuntime, type Permissions } from './runtime/tracker-runtime.ts'

export interface TrackerModules {
  /** Proves the tracker's id to nodes. */
  readonly identity: Identity
  readonly crypto: Crypto
  readonly clock: Clock
  readonly random: Random
  /** Which nodes may use it, in a private network. Default: all. */
  readonly admission?: NodeAdmission | undefined
  /** Who may read and publish streams, so that no node is in an overlay that it may not read. Default: nodes are trusted. */
  readonly permissions?: Permissions | undefined
  /** Default: logs nothing. */
  readonly logger?: TrackerLogger
  /** The trackers of the network, for `cluster`. */
  readonly registry?: TrackerRegistryView
  /**
   * Which streams exist, and what their owners have chosen; `streamOverlays` takes precedence. Default: all exist, with no
   * choice.
   */
  readonly streams?: StreamSource
  /** The signed document of a network without a chain, as it is now; served under /v1/network-document. Default: none. */
  readonly networkDocument?: (() => string | undefined) | undefined
  /** Called with errors in this build, on a stack of its own: what it throws ends the process. They are logged as well. */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** A tracker: WebSocket for nodes and HTTP for everybody, on one port. */
export interface Tracker {
  readonly nodeId: NodeId
  /** The URL that nodes dial; empty before `start`, and on a wildcard address without `publicUrl`. */
  readonly url: string
  /** Where the HTTP API is; empty before `start`. */
  readonly httpUrl: string
  /** Listens. Throws PORT_IN_USE, LISTEN_FAILED, and TRACKER_STOPPED after `stop`. Idempotent. */
  start(): Promise<void>
  /** Closes everything. Idempotent. */
  stop(): Promise<void>
  /** Every complete overlay now. */
  readonly overlays: readonly TopologyView[]
  /** All counts, in Prometheus' text format. */
  metrics(): Promise<string>
}

/**
 * Sockets beyond those of nodes and of HTTP, so that a node beyond the limit can be told, and one that reconnects gets in.
 */
const spareConnections = 256

/** Sets a tracker up, without listening yet. Throws INVALID_TRACKER_OPTIONS. */
export function createTracker(options: TrackerOptions, modules: TrackerModules): Tracker {
  const { listen: where = {}, degree = defaultTrackerOptions.degree, ice = {}, explorer } = options
  const {
    host = defaultTrackerOptions.host,
    port = defaultTrackerOptions.port,
    tls,
    publicUrl,
    alsoKnownAs = [],
  } = where
  const { identity, random, logger } = modules
  const clock = guardedClock(modules.clock, (error) => runtime.fault(error))
  const limits = resolveLimits(options.limits)
  const overlay = resolveOverlays(options)
  const { permissions } = modules
  const registry = permissions && registryAnswers(permissions, modules)
  const core = new TrackerCore({ degree: checkDegree(degree), limits, overlay }, { random, registry })
  const processingMs = checkProcessingMs(options.processingMs ?? defaultTrackerOptions.processingMs)
  const predictions = new Predictions(
    { processingMs, limits: predictionLimits },
    { random: random.fork('predictions'), nowMs: () => clock.monotonicMs(), turn: () => setImmediate() },
  )
  const metrics = createMetrics(core)
  const maxSockets = limits.maxNodes + spareConnections + httpLimits.maxHttpSockets
  const onCut = () => core.counters.count('socketsCut')
  const serverFactory: FastifyServerFactory = (handler) =>
    createHttpServer({ tls, maxSockets, onCut }, handler)
  const clusterView = () => cluster?.view()
  const clusterState = () => cluster?.state
  const api = createHttpApi(
    {
      ...{ nodeId: identity.nodeId, serverFactory },
      places: checkPlaces(options.places ?? {}),
      publicNetwork: explorer?.network,
    },
    {
      ...(modules.networkDocument && { networkDocument: modules.networkDocument }),
      ...{ core, metrics, predictions, clusterView, clusterState, nowMs: () => clock.monotonicMs() },
      ...(explorer && { explorer: loadStaticFiles(explorer.directory) }),
    },
  )
  const { server } = api
  const wire: ConnectionModules = {
    ...modules,
    clock,
    capabilities: [reportsCapability, countsCapability, openOffersCapability].map((name) => ({
      name,
      required: false,
    })),
    onError: (error) => runtime.connectionFault(error),
  }
  const circuits = options.cluster && {
    open: (path: readonly NodeId[]) =>
      cluster?.openCircuit(path) ?? Promise.reject(trackerError('CIRCUIT_UNAVAILABLE')),
    maxQueuedBytes: resolveClusterLimits(options.cluster.limits).maxCircuitQueueBytes,
  }
  const circuitsIn = new CircuitListener({ role: 'tracker' }, wire)
  const transport = new WebSocketTransport(
    {
      role: 'tracker',
      // Sockets and nodes are shared out by network: no other limit may be reached first.
      maxConnections: maxSockets,
      listen: {
        ...{ server, alsoKnownAs },
        ...(circuits && { circuits }),
        ...(publicUrl === undefined ? {} : { publicUrl }),
      },
    },
    wire,
  )
  addConnectionMetrics(metrics, transport.counters)
  const onStall = (stalledMs: number) => {
    logger?.warn({ stalledMs }, 'this process stalled: the tracker begins anew')
    runtime.beginAnew()
    cluster?.beginAnew()
  }
  const cpuMs = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000
  }
  const stallGuard = new StallGuard({ stallMs: limits.stallMs, onStall }, { clock, cpuMs })
  const checkStall = () => stallGuard.check()
  const runtime = new TrackerRuntime({
    core,
    transport,
    circuits: circuitsIn,
    clock: modules.clock,
    crypto: modules.crypto,
    onError: modules.onError,
    ice: createIceServerSource(ice),
    admission: modules.admission,
    permissions,
    checkStall,
    ...(logger && { logger }),
  })
  const cluster = createCluster(
    options,
    { ...modules, clock },
    { core, runtime, circuitsIn, checkStall, url: () => transport.url },
  )
  if (cluster !== undefined) addClusterMetrics(metrics, cluster)
  const { streamOverlays = {} } = options
  const streams =
    modules.streams &&
    new KnownStreams({
      ...{ core, source: modules.streams, clock, retryMs: limits.registryRetryMs },
      missing: (streamId) => {
        logger?.debug({ streamId }, 'the registry has no such stream')
        runtime.handle({ type: 'streamMissing', streamId })
      },
      changed: (streamId) => {
        runtime.handle({ type: 'streamsChanged', streamId })
        cluster?.streamsChanged(streamId)
      },
      chosen: (streamId, overlay) => {
        if (Object.hasOwn(streamOverlays, streamId)) return
        runtime.handle({ type: 'overlay', streamId, overlay })
        if (overlay !== undefined)
          logger?.info({ streamId, overlay }, 'the owner of a stream chose its overlay')
      },
    })
  const scheme = tls === undefined ? 'http' : 'https'

  async function open(): Promise<void> {
    await api.ready()
    await listen(server, host, port)
    await runtime.start()
    stallGuard.start()
    streams?.start()
    cluster?.start()
    logger?.info({ nodeId: identity.nodeId, url: transport.url }, 'tracker started')
  }

  async function close(): Promise<void> {
    await starting?.catch(() => {})
    stallGuard.stop()
    streams?.stop()
    await cluster?.stop()
    await runtime.stop()
    await closeServer(server)
    await api.close()
    logger?.info({ nodeId: identity.nodeId }, 'tracker stopped')
  }

  let starting: Promise<void> | undefined
  let stopping: Promise<void> | undefined
  return {
    nodeId: identity.nodeId,
    get url() {
      return transport.url
    },
    get httpUrl() {
      return server.listening ? urlOf(server, scheme, host) : ''
    },
    start: async () => {
      if (stopping !== undefined) throw trackerError('TRACKER_STOPPED')
      await (starting ??= open())
    },
    stop: () => (stopping ??= close()),
    get overlays() {
      const whole = { offset: 0, limit: Infinity }
      return Array.from(core.streamParts.values(), (part) => topologyView(part, whole))
    },
    metrics: () => metrics.metrics(),
  }
}

interface ClusterSurroundings {
  readonly core: TrackerCore
  readonly runtime: TrackerRuntime
  readonly circuitsIn: CircuitListener
  checkStall(): void
  url(): string
}

/** Throws INVALID_TRACKER_OPTIONS. */
function createCluster(
  { cluster: join, listen: { host: ownHost = defaultTrackerOptions.host } = {} }: TrackerOptions,
  { identity, crypto, clock, random, logger = silentLogger, registry, admission }: TrackerModules,
  surroundings: ClusterSurroundings,
): Cluster | undefined {
  if (join === undefined) return undefined
  if (registry === undefined) throw trackerError('INVALID_TRACKER_OPTIONS', 'cluster needs a registry')
  const { privateKey, host = ownHost, port = 0, announce = [] } = join
  if (nodeIdFromBytes(crypto.addressOf(privateKey)) !== identity.nodeId)
    throw trackerError('INVALID_TRACKER_OPTIONS', 'cluster.privateKey is not the key of the tracker')
  return new Cluster(
    {
      ...{ privateKey, limits: resolveClusterLimits(join.limits) },
      listen: { host, port, announce },
    },
    { identity, crypto, clock, random, logger, registry, admission, ...surroundings },
  )
}
