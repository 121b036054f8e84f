import {
  createClient,
  readReadingKeyFile,
  readUserFile,
  type ClientConfig,
  type RunnelClient,
  type TransportsConfig,
} from '@runnel/client'
import { createNetworkNode } from '@runnel/network'
import { addressOf, loadCrypto, type NodeId, type RunnelError } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { readNetwork, type DescribedNetwork } from './cli/network-source.ts'
import { readTls } from './cli/tls-files.ts'
import { ClockWatch } from './clock/clock-watch.ts'
import { checkGateways } from './gateway/check-gateways.ts'
import type { BrokerConfig } from './config/schema.ts'
import { controlPlugin } from './control/control-plugin.ts'
import { resolveKey } from './keys/resolve-key.ts'
import { nodeLimits } from './limits.ts'
import { createLogger, type Logger } from './logger.ts'
import { builtInPlugins } from './plugins/built-in.ts'
import type { PluginContext } from './plugins/plugin.ts'
import { httpPlugin } from './plugins/http/http-plugin.ts'
import { loadPlugins } from './plugins/load-plugins.ts'
import { createPlugins, type ConfiguredPlugin, type Plugins } from './plugins/plugins.ts'
import type { NodeSnapshot } from './snapshot.ts'
import { JoinedStreams } from './streams/joined-streams.ts'
import { TrackerPresence } from './streams/tracker-presence.ts'
import {
  watchEncryption,
  watchEndpoints,
  watchFaults,
  watchMembership,
  watchTrackers,
} from './watch-client.ts'

type Identity = Parameters<PluginContext['openClient']>[0]

/** A running broker node: a client, and plugins that put it to use. */
export interface Broker {
  readonly nodeId: NodeId
  readonly client: RunnelClient
  readonly plugins: Pick<Plugins, 'of'>
  /** Where the HTTP plugin answers; undefined without it. */
  readonly httpUrl: string | undefined
  /** Where it obeys commands; undefined when it does not. */
  readonly controlUrl: string | undefined
  snapshot(): NodeSnapshot
  /** Stops the plugins, lets the client finish what is under way, and closes it. Idempotent. */
  stop(): Promise<void>
}

export interface BrokerModules {
  readonly logger?: Logger
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Where the packages of plugins are looked for. Default the working directory. */
  readonly directory?: string
}

/**
 * Starts a broker node. On a failure everything already started is stopped again. Throws also what `loadPlugins` and the
 * plugins throw.
 */
export async function startBroker(config: BrokerConfig, modules: BrokerModules = {}): Promise<Broker> {
  const { env = process.env, directory = process.cwd() } = modules
  const { logger = createLogger(config.logLevel, 'runnel', { format: config.logFormat }) } = modules
  const hasGateway = checkGateways(config, logger)
  const { backend } = await loadCrypto()
  const plugins = createPlugins([...builtIn(config), ...(await loadPlugins(config.plugins, directory))])
  const network = readNetwork(config.network)
  const client = await openClient(config, network, env)
  const clockWatch = new ClockWatch(nodeLimits, { network, clock: systemClock, logger })
  clockWatch.start()
  const trackers = watchTrackers(client, logger)
  void watchMembership(client, logger)
  void watchEndpoints(client, logger)
  void watchFaults(client, logger)
  void watchEncryption(client, logger)
  const streams = new JoinedStreams(
    { streams: config.streams, limits: nodeLimits },
    { client, logger, clock: systemClock },
  )
  const presence = new TrackerPresence(
    { everyMs: nodeLimits.presenceMs },
    { network: client.network, clock: systemClock },
  )
  const websocketUrl = () => addressOf(client.network.contact, 'websocket')
  const startedMs = performance.now()
  const snapshot = (): NodeSnapshot => ({
    nodeId: client.nodeId,
    pid: process.pid,
    websocketUrl: websocketUrl(),
    cryptoBackend: backend,
    uptimeMs: Math.round(performance.now() - startedMs),
    trackers: trackers.states(),
    isReplaced: trackers.isReplaced(),
    chainEndpoints: client.chainEndpoints,
    streams: streams.status,
    admissionProblem: plain(client.admissionProblem),
    clockProblem: plain(clockWatch.problem),
    ...client.network.metrics(),
    plugins: plugins.statuses(),
  })
  let stopped: Promise<void> | undefined
  const stop = () => {
    trackers.stop()
    presence.stop()
    clockWatch.stop()
    return (stopped ??= stopAll(plugins, streams, client, logger))
  }
  const { nodeId, userId } = client
  const websocket = websocketUrl()
  logger.info(
    { nodeId, userId, websocket },
    websocket === undefined ? 'the node does not listen' : 'the node is listening',
  )
  if (config.streams.length > 0) logger.info({ streams: config.streams }, 'the node takes part in streams')
  try {
    const openClient = (identity: Identity) => createClient(clientConfigOfIdentity(identity, config, network))
    await plugins.start({ client, openClient, logger, snapshot })
  } catch (error) {
    await stop()
    throw error
  }
  // After the plugins: storage asks for more as it joins than is asked here, and with what they joined presence is not needed.
  streams.start()
  presence.start()
  const [httpUrl, controlUrl] = [plugins.of(httpPlugin)?.url, plugins.of(controlPlugin)?.url]
  logger.info({ nodeId, http: httpUrl, crypto: backend }, 'the node is running')
  const isIdle = config.streams.length === 0 && client.network.streamParts.length === 0
  // Gateways join what their clients ask for.
  if (isIdle && !config.storage.enabled && !hasGateway)
    logger.info('the node is in no stream: name streams with --stream, or in the setting streams')
  if (controlUrl !== undefined)
    logger.warn({ control: controlUrl }, 'this node accepts commands, and reports how old messages are')
  return { nodeId: client.nodeId, client, plugins, httpUrl, controlUrl, snapshot, stop }
}

function builtIn(config: BrokerConfig): ConfiguredPlugin[] {
  return Object.values(builtInPlugins).map((definition) => ({ definition, options: config[definition.name] }))
}

function openClient(
  config: BrokerConfig,
  network: DescribedNetwork,
  env: Readonly<Record<string, string | undefined>>,
): Promise<RunnelClient> {
  const { name, storage, control } = config
  const role = storage.enabled ? 'storage' : 'node'
  // A node controlled by an experiment also measures the results.
  const tracing = control.enabled
  return createClient(clientConfigOf(config, network, env), {
    createNode: (options, nodeModules) => createNetworkNode({ ...options, role, name, tracing }, nodeModules),
  })
}

/** Beside the node, with its transports, and listening nowhere. */
function clientConfigOfIdentity(
  { as, readingKey }: Identity,
  { maxLiveAgeMs, thinFloods, verificationWorkers, tcp, webrtc, circuits }: BrokerConfig,
  network: DescribedNetwork,
): ClientConfig {
  return {
    ...readUserFile(as),
    readingKey: readingKey === undefined ? undefined : readReadingKeyFile(readingKey),
    network,
    maxLiveAgeMs,
    thinFloods,
    verificationWorkers,
    transports: {
      tcp: tcp.enabled && {},
      websocket: {},
      webrtc: webrtc.enabled ? { maxConnections: webrtc.maxConnections } : false,
      circuits: circuits.enabled && { carriers: circuits.carriers },
    },
  }
}

function clientConfigOf(
  config: BrokerConfig,
  network: DescribedNetwork,
  env: Readonly<Record<string, string | undefined>>,
): ClientConfig {
  const { websocket, tcp, webrtc, circuits, guests, maxLiveAgeMs, thinFloods, verificationWorkers } = config
  const { host, port, publicUrl, alsoKnownAs } = websocket
  const tls = readTls(websocket)
  const listen = {
    ...{ host, port, alsoKnownAs },
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(tls ? { tls } : {}),
  }
  return {
    ...(config.as === undefined ? {} : readUserFile(config.as)),
    readingKey: config.readingKey === undefined ? undefined : readReadingKeyFile(config.readingKey),
    // A storage node is registered by it.
    nodePrivateKey: resolveKey({ key: config.key, env }),
    network,
    maxLiveAgeMs,
    thinFloods,
    verificationWorkers,
    guests,
    transports: {
      tcp: tcp.enabled && tcpOptions(tcp),
      websocket: websocket.listen ? { listen } : {},
      webrtc: webrtc.enabled ? { maxConnections: webrtc.maxConnections } : false,
      circuits: circuits.enabled && circuitOptions(circuits),
    },
  }
}

function circuitOptions({ carriers, carry, maxCarried, maxBytesPerS }: BrokerConfig['circuits']) {
  return { carriers, carries: carry && { maxCircuits: maxCarried, maxBytesPerS } }
}

function tcpOptions({
  listen,
  host,
  port,
  publicUrl,
}: BrokerConfig['tcp']): NonNullable<TransportsConfig['tcp']> {
  return listen ? { listen: { host, port, ...(publicUrl === undefined ? {} : { publicUrl }) } } : {}
}

function plain(problem: RunnelError | undefined): NodeSnapshot['admissionProblem'] {
  return problem && { code: problem.code, message: problem.message }
}

async function stopAll(
  plugins: Plugins,
  streams: JoinedStreams,
  client: RunnelClient,
  logger: Logger,
): Promise<void> {
  await plugins.stop(logger)
  await streams.stop()
  await client.close()
  logger.info('the node has stopped')
}
