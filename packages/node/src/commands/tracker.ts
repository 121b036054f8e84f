import { existsSync } from 'node:fs'
import { explorerDirectory } from '@runnel/explorer'
import {
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  overlayStrategies,
  parsePrivateKey,
  type OverlayStrategyName,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker, type ClusterJoin, type TrackerOptions } from '@runnel/tracker'
import { checkRange } from '../cli/check-range.ts'
import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { networkByDefault, readNetwork, type DescribedNetwork } from '../cli/network-source.ts'
import { readPlaces } from '../cli/places-file.ts'
import { notice } from '../cli/output.ts'
import { listenForStop } from '../cli/stop-signal.ts'
import { readTextFile, readTls } from '../cli/tls-files.ts'
import { defaultControlPort, type ControlOptions } from '../control/control-options.ts'
import { createTrackerControl } from '../control/tracker-control.ts'
import { requireKey, resolveKey } from '../keys/resolve-key.ts'
import { createLogger, type Logger } from '../logger.ts'
import { isSupervised, tellSupervisor } from '../up/child-protocol.ts'

export const tracker = defineCommand({
  name: 'tracker',
  describe: 'Run a tracker: it builds the overlays and relays signalling',
  options: {
    key: networkOptions.key,
    host: { type: 'string', default: '127.0.0.1', describe: 'Address to listen on' },
    port: {
      type: 'number',
      default: 30300,
      describe: 'Port for WebSocket and HTTP; 0 takes a free one',
    },
    'public-url': {
      type: 'string',
      describe: 'URL by which nodes reach it, if that is not its own address',
    },
    'also-known-as': {
      type: 'string',
      array: true,
      implies: 'public-url',
      describe: 'Further URL by which nodes reach it: one inside its network, or a former one',
    },
    'tls-cert': {
      type: 'string',
      implies: 'tls-key',
      describe: 'TLS certificate, PEM; turns on wss',
    },
    'tls-key': {
      type: 'string',
      implies: 'tls-cert',
      describe: 'Key of the TLS certificate, PEM',
    },
    degree: { type: 'number', default: 4, describe: 'Neighbours of a node in an overlay' },
    overlay: {
      choices: overlayStrategies,
      default: 'topology-aware',
      describe:
        'How to build overlays: from random edges only, also from near ones by round-trip time, or as a tree for one publisher. With --network: only for streams without the field overlay in their metadata',
    },
    'ice-server': {
      type: 'string',
      array: true,
      describe: 'STUN server for nodes, such as stun:stun.example:3478; may be repeated',
    },
    'turn-url': {
      type: 'string',
      array: true,
      implies: 'turn-secret-file',
      describe: 'TURN server for nodes',
    },
    'turn-secret-file': {
      type: 'string',
      describe: 'File with the secret shared with the TURN server',
    },
    register: {
      type: 'boolean',
      describe:
        'Add itself to the tracker registry of --network, otherwise of RUNNEL_NETWORK, otherwise of the network of runnel up in this folder',
    },
    network: {
      ...networkOptions.network,
      describe:
        'Network file. The tracker joins the cluster of the trackers in its registry, serves only streams of this network, and in a private network admits only listed nodes',
    },
    cluster: {
      type: 'boolean',
      default: true,
      describe:
        'Join the cluster of the trackers in the registry of --network, as soon as this tracker is registered',
    },
    'cluster-host': {
      type: 'string',
      describe: 'Address to listen on for other trackers. Default: --host',
    },
    'cluster-port': {
      type: 'number',
      default: 0,
      describe: 'Port for other trackers; 0 takes a free one',
    },
    'cluster-announce': {
      type: 'string',
      array: true,
      describe:
        'Multiaddress at which other trackers reach it, such as /dns4/tracker.example/tcp/30301; may be repeated',
    },
    explorer: {
      type: 'boolean',
      default: true,
      describe: 'Serve the explorer, a page that shows the network, under /explorer/',
    },
    'explorer-network': {
      type: 'string',
      describe:
        'Network file that the explorer serves to everybody, so that pages can take part. It must not contain keys of RPC providers',
    },
    places: {
      type: 'string',
      describe:
        'JSON file with the locations of nodes and trackers, for the map: {"0x…": {"latitude": 60.2, "longitude": 24.9, "name": "Helsinki"}}',
    },
    'control-socket': {
      type: 'string',
      describe: 'Accept commands on this Unix socket, for experiments: docs/control.md',
    },
    'control-host': {
      type: 'string',
      describe: 'Accept commands on this address; needs a token file unless it is a loopback address',
    },
    'control-port': {
      type: 'number',
      describe: `Accept commands on this port; 0 takes a free one. Default with --control-host: ${defaultControlPort}`,
    },
    'control-token-file': {
      type: 'string',
      describe: 'File with the token that commands must send',
    },
    'owner-key': {
      type: 'string',
      describe: 'Key file of the owner of the registry, for --register. Default: --key',
    },
  },
  examples: [
    [
      'tracker --key tracker.key',
      'ws://127.0.0.1:30300, and HTTP on the same port: /health, /metrics, /v1/…',
    ],
    [
      'tracker --key tracker.key --register --network network.json --owner-key owner.key',
      'Also registers the tracker',
    ],
  ],
  epilogue: 'SIGINT, SIGTERM or SIGHUP stops the tracker. Overlays keep working without it.',
  run: async (args) => {
    const options = optionsOf(args)
    const stop = listenForStop()
    const { register, 'owner-key': ownerKey } = args
    const network = args.network ?? (register ? networkByDefault() : undefined)
    const level = args['log-level'] ?? 'info'
    const crypto = await loadCrypto()
    const privateKey = resolveKey({ key: args.key, env: process.env })
    if (privateKey === undefined && !isSupervised())
      notice('no --key given: this tracker gets a new id at each start')
    if (network === undefined && !isSupervised())
      notice('no --network given: this tracker serves every stream, without a cluster')
    const key = privateKey === undefined ? generatePrivateKey(systemRandom) : parsePrivateKey(privateKey)
    const identity = createIdentity(key, crypto)
    const logger = createLogger(level, 'tracker', { format: args['log-format'] })
    const registry = network === undefined ? undefined : await followNetwork(network, logger)
    const cluster = registry && args.cluster ? clusterOf(args, key) : undefined
    const running = createTracker(
      { ...options, ...(cluster && { cluster }) },
      {
        ...{ identity, crypto, logger, clock: systemClock, random: systemRandom },
        admission: registry?.service.admission,
        permissions: registry && {
          readers: registry.service.readerPolicy,
          publishers: registry.service.publisherPolicy,
        },
        ...(registry && { registry: registry.view, streams: registry.streams }),
        networkDocument: registry && (() => registry.service.document),
      },
    )
    const controlOptions = controlOf(args)
    const control = controlOptions && createTrackerControl(controlOptions, { tracker: running })
    try {
      await running.start()
      await control?.start()
      if (control !== undefined) logger.warn({ control: control.url }, 'this tracker accepts commands')
      if (register) {
        const payer =
          ownerKey === undefined
            ? requireKey({ key: args.key, env: process.env })
            : requireKey({ key: ownerKey, env: {} })
        const { registerTracker } = await import('./register-tracker.ts')
        await registerTracker({ network, privateKey: payer, nodeId: running.nodeId, url: running.url })
      }
      tellSupervisor({ type: 'ready', nodeId: running.nodeId, url: running.url, httpUrl: running.httpUrl })
      if (!isSupervised()) notice(`tracker ${running.nodeId} at ${running.url}, HTTP at ${running.httpUrl}`)
      await stop.stopped
    } finally {
      await control?.stop()
      await running.stop()
      await registry?.service.stop()
      stop.release()
    }
  },
})

/** Loaded when it is needed: a tracker without a network does without a client. */
async function followNetwork(network: string, logger: Logger) {
  const [{ openRegistry }, { trackerRegistryView }, { streamSource }] = await Promise.all([
    import('@runnel/client'),
    import('../tracker-registry-view.ts'),
    import('../stream-source.ts'),
  ])
  const service = await openRegistry({ network: readNetwork(network) }, { clock: systemClock, logger })
  return { service, view: trackerRegistryView(service), streams: streamSource(service) }
}

interface TrackerArguments {
  readonly host: string
  readonly port: number
  readonly degree: number
  readonly overlay: OverlayStrategyName
  readonly 'public-url': string | undefined
  readonly 'also-known-as': string[] | undefined
  readonly 'tls-cert': string | undefined
  readonly 'tls-key': string | undefined
  readonly 'ice-server': string[] | undefined
  readonly 'turn-url': string[] | undefined
  readonly 'turn-secret-file': string | undefined
  readonly 'cluster-host': string | undefined
  readonly 'cluster-port': number
  readonly 'cluster-announce': string[] | undefined
  readonly explorer: boolean
  readonly 'explorer-network': string | undefined
  readonly places: string | undefined
  readonly 'control-socket': string | undefined
  readonly 'control-host': string | undefined
  readonly 'control-port': number | undefined
  readonly 'control-token-file': string | undefined
}

/** Undefined where no option asks for it. */
function controlOf(args: TrackerArguments): ControlOptions | undefined {
  const { 'control-socket': socket, 'control-host': host, 'control-port': port } = args
  if (socket === undefined && host === undefined && port === undefined) return undefined
  checkRange('control-port', port ?? defaultControlPort, 0, 65_535)
  return {
    socket,
    host: host ?? '127.0.0.1',
    port: port ?? defaultControlPort,
    tokenFile: args['control-token-file'],
  }
}

function clusterOf(args: TrackerArguments, privateKey: Uint8Array): ClusterJoin {
  const { 'cluster-host': host, 'cluster-port': port, 'cluster-announce': announce = [] } = args
  checkRange('cluster-port', port, 0, 65_535)
  return { privateKey, port, announce, ...(host === undefined ? {} : { host }) }
}

function optionsOf(args: TrackerArguments): TrackerOptions {
  const { host, port, degree, overlay, 'public-url': publicUrl } = args
  const tls = readTls({ certFile: args['tls-cert'], keyFile: args['tls-key'] })
  checkRange('port', port, 0, 65_535)
  checkRange('degree', degree, 2, 64)
  return {
    listen: {
      ...{ host, port, alsoKnownAs: args['also-known-as'] ?? [] },
      ...(publicUrl === undefined ? {} : { publicUrl }),
      ...(tls === undefined ? {} : { tls }),
    },
    degree,
    overlay,
    ice: { servers: args['ice-server'] ?? [], ...turnOf(args) },
    ...explorerOf(args),
    ...(args.places === undefined ? {} : { places: readPlaces(args.places) }),
  }
}

/** Nothing where the page was not built. */
function explorerOf({ explorer, 'explorer-network': network }: TrackerArguments) {
  if (!explorer || !existsSync(explorerDirectory)) return {}
  const directory = explorerDirectory
  return {
    explorer: { directory, ...(network === undefined ? {} : { network: forPages(readNetwork(network)) }) },
  }
}

/** Pages take the document from the tracker that they are from. */
function forPages(network: DescribedNetwork): DescribedNetwork {
  if (network.kind !== 'document') return network
  return { kind: 'document', owner: network.owner, sources: ['/v1/network-document'] }
}

function turnOf(args: TrackerArguments) {
  const { 'turn-url': urls, 'turn-secret-file': secretFile } = args
  if (urls === undefined || secretFile === undefined) return {}
  return { turn: { urls, secret: readTextFile(secretFile).trim() } }
}
