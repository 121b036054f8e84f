import { createClient, type ClientConfig, type RunnelClient } from '@runnel/client'
import { createNetworkNode, TrackerClosedError } from '@runnel/network'
import { loadCrypto, protocolError, type NodeId } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { createStoragePlugin, createStore, storeConfigOf, type StoragePlugin } from '@runnel/storage'
import type { TrackerErrorCode } from '@runnel/tracker'
import type { FastifyInstance } from 'fastify'
import { readNetwork } from './cli/network-source.ts'
import { readTls } from './cli/tls-files.ts'
import type { BrokerConfig } from './config/schema.ts'
import { nodeError } from './errors.ts'
import { createControlPlugin } from './control/control-plugin.ts'
import { resolveKey } from './keys/resolve-key.ts'
import { createLogger, type Logger } from './logger.ts'
import { createHttpPlugin } from './plugins/http/http-plugin.ts'
import {
  createMeasurementsPlugin,
  type MeasurementsPlugin,
} from './plugins/measurements/measurements-plugin.ts'
import { createObserverPlugin } from './plugins/observer/observer-plugin.ts'
import type { Plugin } from './plugins/plugin.ts'
import type { NodeSnapshot, TrackerState } from './snapshot.ts'

/** A running broker node: a client, and plugins that put it to use. */
export interface Broker {
  readonly nodeId: NodeId
  readonly client: RunnelClient
  /** Where the HTTP plugin answers; undefined without it. */
  readonly httpUrl: string | undefined
  /** Where it obeys commands; undefined when it does not. */
  readonly controlUrl: string | undefined
  /** Undefined when this machine's measurements are not published. */
  readonly measurements: MeasurementsPlugin | undefined
  /** Undefined when this is no storage node. */
  readonly storage: StoragePlugin | undefined
  snapshot(): NodeSnapshot
  /** Stops the plugins, lets the client finish what is under way, and closes it. Idempotent. */
  stop(): Promise<void>
}

export interface BrokerModules {
  readonly logger?: Logger
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** Starts a broker node. On a failure everything already started is stopped again. */
export async function startBroker(config: BrokerConfig, modules: BrokerModules = {}): Promise<Broker> {
  const { logger = createLogger(config.logLevel), env = process.env } = modules
  const { backend } = await loadCrypto()
  const storage = config.storage.enabled
    ? createStoragePlugin(config.storage, {
        store: createStore(storeConfigOf(config.storage), { clock: systemClock }),
      })
    : undefined
  // Who is told what to do for an experiment measures what comes of it.
  const client = config.control.enabled
    ? await createClient(clientConfigOf(config, env), {
        createNode: (options, nodeModules) => createNetworkNode({ ...options, tracing: true }, nodeModules),
      })
    : await createClient(clientConfigOf(config, env))
  const trackers = watchTrackers(client, logger)
  void watchAdmission(client, logger)
  void watchFaults(client, logger)
  const startedMs = performance.now()
  const measurements = config.measurements.enabled ? createMeasurementsPlugin(config.measurements) : undefined
  const observer = createObserverPlugin(config.observer)
  const snapshot = (): NodeSnapshot => ({
    nodeId: client.nodeId,
    pid: process.pid,
    websocketUrl: client.network.contact.websocketUrl || undefined,
    cryptoBackend: backend,
    uptimeMs: Math.round(performance.now() - startedMs),
    trackers: trackers.states(),
    ...client.network.metrics(),
    observed: observer.observed(),
    latencyMs: observer.latency(),
    published: measurements?.published() ?? [],
    storage: storage?.status(),
  })
  const addRoutes = (server: FastifyInstance) => storage?.addRoutes(server)
  const http = config.http.enabled ? createHttpPlugin(config.http, snapshot, addRoutes) : undefined
  const control = config.control.enabled ? createControlPlugin(config.control) : undefined
  const plugins = [storage, http, observer, measurements, control].filter((plugin) => plugin !== undefined)
  const stop = () => {
    trackers.stop()
    return (stopped ??= stopAll(plugins, client, logger))
  }
  let stopped: Promise<void> | undefined
  try {
    for (const plugin of plugins) await plugin.start({ client, logger })
  } catch (error) {
    await stop()
    throw error
  }
  logger.info({ nodeId: client.nodeId, http: http?.url, crypto: backend }, 'the node is running')
  if (control !== undefined)
    logger.warn({ control: control.url }, 'this node obeys commands, and says how old messages are')
  const [httpUrl, controlUrl] = [http?.url, control?.url]
  return { nodeId: client.nodeId, client, httpUrl, controlUrl, measurements, storage, snapshot, stop }
}

function clientConfigOf(
  config: BrokerConfig,
  env: Readonly<Record<string, string | undefined>>,
): ClientConfig {
  const { websocket, webrtc, maxLiveAgeMs } = config
  const { host, port, publicUrl, alsoKnownAs, certFile, keyFile } = websocket
  const tls = certFile !== undefined && keyFile !== undefined ? readTls(certFile, keyFile) : undefined
  const listen = {
    ...{ host, port, alsoKnownAs },
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(tls ? { tls } : {}),
  }
  return {
    privateKey: resolveKey({ key: config.key, env }),
    network: readNetwork(config.network),
    maxLiveAgeMs,
    transports: {
      websocket: websocket.listen ? { listen } : {},
      webrtc: webrtc.enabled ? { maxConnections: webrtc.maxConnections } : false,
    },
  }
}

/** How a tracker says that another connection has taken the place of this one; a node opens one at a time. */
const replaced: TrackerErrorCode = 'REPLACED'

interface TrackerWatch {
  states(): TrackerState[]
  /** That connections end when the node stops is no news. */
  stop(): void
}

/** Logs what happens between the node and its trackers, and remembers how things stand. */
function watchTrackers(client: RunnelClient, logger: Logger): TrackerWatch {
  const states = new Map<NodeId, boolean>()
  let isDuplicateKnown = false
  const stop = client.network.on('tracker', (nodeId, state, error) => {
    states.set(nodeId, state === 'connected')
    if (error instanceof TrackerClosedError && error.closeCode === replaced) {
      const { code, message, remedy } = nodeError('DUPLICATE_NODE', client.nodeId)
      // The two take the connection from each other again and again: once said aloud is enough.
      logger[isDuplicateKnown ? 'debug' : 'error']({ tracker: nodeId, code }, `${message}. ${remedy}`)
      isDuplicateKnown = true
    } else if (error) logger.warn({ tracker: nodeId, code: error.code }, error.message)
    else logger.info({ tracker: nodeId }, `tracker ${state}`)
  })
  client.network.on('linkFailed', (peer, { code, message }) =>
    logger.info({ peer, code }, `no link: ${message}`),
  )
  client.network.on('dropped', (counter, detail) => logger.debug({ counter }, detail))
  return { states: () => [...states].map(([nodeId, connected]) => ({ nodeId, connected })), stop }
}

/** Logs whether a private network lists the node: at the start where it does not, and whenever that changes. */
async function watchAdmission(client: RunnelClient, logger: Logger): Promise<void> {
  const { nodeId } = client
  const say = (isListed: boolean) => {
    if (isListed) return logger.info({ nodeId }, 'the private network lists this node')
    const { code, message, remedy } = protocolError('NODE_NOT_LISTED', nodeId)
    return logger.error({ code }, `${message}. ${remedy}`)
  }
  if (!client.isListed) say(false)
  for await (const status of client.status()) if (status.type === 'admission') say(status.isListed)
}

/** Errors in this build, each of which has ended some work and nothing else. */
async function watchFaults(client: RunnelClient, logger: Logger): Promise<void> {
  for await (const status of client.status()) {
    if (status.type !== 'fault') continue
    const { streamPartId: streamPart, peerId: peer, error: err } = status
    const text =
      streamPart === undefined ? 'a fault' : 'a fault in a stream part: it is left and joined again'
    logger.error({ streamPart, peer, err }, `${text}; please report it`)
  }
}

async function stopAll(plugins: readonly Plugin[], client: RunnelClient, logger: Logger): Promise<void> {
  for (const plugin of plugins.toReversed()) {
    await plugin
      .stop()
      .catch((error: unknown) => logger.error({ err: error, plugin: plugin.name }, 'plugin failed to stop'))
  }
  await client.close()
  logger.info('the node has stopped')
}
