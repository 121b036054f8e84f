import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { privateKeyFromRaw } from '@libp2p/crypto/keys'
import { identify, type Identify } from '@libp2p/identify'
import type { Libp2p, PeerId, ServiceMap, Stream } from '@libp2p/interface'
import { kadDHT, passthroughMapper, type KadDHT } from '@libp2p/kad-dht'
import { ping, type Ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { multiaddr } from '@multiformats/multiaddr'
import type { Crypto, NodeId } from '@runnel/protocol'
import type { PooledChannel } from '@runnel/transport'
import { createLibp2p } from 'libp2p'
import { trackerError } from '../../errors.ts'
import type { ClusterCounterName } from '../core/cluster-counters.ts'
import { recordNamespace } from '../core/record.ts'
import type { ClusterLimits } from '../limits.ts'
import { BoundedDatastore } from './bounded-datastore.ts'
import { decodePath, encodePath } from './circuit-path.ts'
import type { ClusterNetwork, ClusterNetworkEvents } from './cluster-network.ts'
import { nodeIdOfPeer, nodeIdOfPeerText } from './peer-key.ts'
import { StreamChannel } from './stream-channel.ts'

const kadProtocol = '/runnel/kad/1.0.0'
/** Simultaneous pings on one connection. */
const pingStreams = 32
const circuitProtocol = '/runnel/circuit/1.0.0'
const opened = new Uint8Array(0)

export interface NetworkOptions {
  /** The registered key, 32 bytes. */
  readonly privateKey: Uint8Array
  readonly host: string
  readonly port: number
  /** Multiaddresses that other trackers dial, where they differ from those listened on. */
  readonly announce: readonly string[]
  readonly limits: ClusterLimits
}

export interface NetworkModules {
  readonly crypto: Crypto
  readonly events: ClusterNetworkEvents
  /** Whether a tracker may take part. */
  mayJoin(tracker: NodeId): boolean
  count(name: ClusterCounterName): void
}

interface Services extends ServiceMap {
  readonly identify: Identify
  readonly ping: Ping
  readonly dht: KadDHT
}

/** Listens for other trackers. Throws CLUSTER_START_FAILED. */
export async function startNetwork(
  options: NetworkOptions,
  modules: NetworkModules,
): Promise<ClusterNetwork> {
  try {
    const libp2p = await createNode(options, modules)
    const network = new Libp2pNetwork(options.limits, modules, libp2p)
    await network.start()
    return network
  } catch (cause) {
    const detail = `${options.host}:${options.port} (${cause instanceof Error ? cause.message : String(cause)})`
    throw trackerError('CLUSTER_START_FAILED', detail, { cause })
  }
}

function createNode(options: NetworkOptions, modules: NetworkModules): Promise<Libp2p<Services>> {
  const { limits, announce, host, port, privateKey } = options
  const deny = (peerId: PeerId) => {
    const tracker = nodeIdOfPeer(peerId, modules.crypto)
    if (tracker !== undefined && modules.mayJoin(tracker)) return false
    modules.events.onStranger(tracker ?? peerId.toString())
    return true
  }
  const version = host.includes(':') ? 'ip6' : 'ip4'
  return createLibp2p({
    start: false,
    privateKey: privateKeyFromRaw(privateKey),
    addresses: { listen: [`/${version}/${host}/tcp/${port}`], announce: [...announce] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [
      yamux({ maxInboundStreams: 2 * limits.maxCircuits, maxOutboundStreams: 2 * limits.maxCircuits }),
    ],
    connectionGater: {
      // Trackers on one machine or in one network are acceptable.
      denyDialMultiaddr: () => false,
      denyDialPeer: deny,
      denyInboundEncryptedConnection: deny,
      denyOutboundEncryptedConnection: deny,
    },
    connectionManager: {
      maxConnections: 2 * limits.maxTrackers,
      inboundConnectionThreshold: limits.maxTrackers,
      maxIncomingPendingConnections: limits.maxTrackers,
      dialTimeout: limits.dialTimeoutMs,
      reconnectRetries: 0,
    },
    connectionMonitor: {
      pingInterval: limits.pingIntervalMs,
      pingTimeout: { minTimeout: limits.pingTimeoutMs, maxTimeout: limits.pingTimeoutMs },
    },
    datastore: new BoundedDatastore(
      { maxBytes: limits.maxStoreBytes },
      { onEvict: () => modules.count('storeEvictions') },
    ),
    services: {
      identify: identify(),
      // The hash table pings, too: with the default of one stream each would take the other's for a dead connection.
      ping: ping({ maxInboundStreams: pingStreams, maxOutboundStreams: pingStreams }),
      dht: kadDHT({
        protocol: kadProtocol,
        clientMode: false,
        peerInfoMapper: passthroughMapper,
        initialQuerySelfInterval: 1_000,
        validators: {
          [recordNamespace]: async (key, value) => modules.events.onRecord(key, value),
          // Keys are in the peer ids; none are stored here.
          pk: () => Promise.reject(trackerError('CLUSTER_RECORD_MALFORMED', 'a public key')),
        },
        selectors: { [recordNamespace]: () => 0, pk: () => 0 },
        networkDialTimeout: { minTimeout: limits.readTimeoutMs, maxTimeout: limits.writeTimeoutMs },
      }),
    },
  })
}

class Libp2pNetwork implements ClusterNetwork {
  readonly #limits: ClusterLimits
  readonly #modules: NetworkModules
  readonly #libp2p: Libp2p<Services>
  readonly #linked = new Map<NodeId, PeerId>()

  constructor(limits: ClusterLimits, modules: NetworkModules, libp2p: Libp2p<Services>) {
    this.#limits = limits
    this.#modules = modules
    this.#libp2p = libp2p
  }

  get peerId(): string {
    return this.#libp2p.peerId.toString()
  }

  get addresses(): readonly string[] {
    return this.#libp2p.getMultiaddrs().map(String)
  }

  async start(): Promise<void> {
    const libp2p = this.#libp2p
    const { maxCircuits } = this.#limits
    libp2p.addEventListener('peer:connect', ({ detail }) => this.#connected(detail))
    libp2p.addEventListener('peer:disconnect', ({ detail }) => this.#disconnected(detail))
    await libp2p.handle(circuitProtocol, (stream, { remotePeer }) => this.#incoming(stream, remotePeer), {
      maxInboundStreams: maxCircuits,
      maxOutboundStreams: maxCircuits,
    })
    await libp2p.start()
  }

  async dial(tracker: NodeId, addresses: readonly string[], signal: AbortSignal): Promise<void> {
    const targets = addresses.map((address) => multiaddr(address))
    for (const target of targets) {
      const peer = target.getComponents().findLast(({ name }) => name === 'p2p')?.value
      if (nodeIdOfPeerText(peer ?? '', this.#modules.crypto) !== tracker)
        throw trackerError('CLUSTER_PEER_WRONG_KEY', tracker)
    }
    await this.#libp2p.dial(targets, { signal })
  }

  hangUp(tracker: NodeId): void {
    const peerId = this.#linked.get(tracker)
    if (peerId !== undefined) this.#abort(peerId, 'no longer wanted')
  }

  async openCircuit([tracker, ...path]: readonly NodeId[]): Promise<PooledChannel> {
    const { dialTimeoutMs } = this.#limits
    const peerId = tracker && this.#linked.get(tracker)
    if (peerId === undefined) throw trackerError('CIRCUIT_UNAVAILABLE', `${tracker} is not linked`)
    const signal = AbortSignal.timeout(dialTimeoutMs)
    let channel: StreamChannel | undefined
    try {
      channel = this.#channelOf(await this.#libp2p.dialProtocol(peerId, circuitProtocol, { signal }))
      channel.send(encodePath(path))
      await channel.first(signal)
      return channel
    } catch (cause) {
      channel?.close(true)
      throw trackerError('CIRCUIT_UNAVAILABLE', `no circuit over ${tracker}`, { cause })
    }
  }

  async put(key: Uint8Array, value: Uint8Array, signal: AbortSignal): Promise<number> {
    let taken = 0
    for await (const event of this.#libp2p.services.dht.put(key, value, { signal }))
      if (event.name === 'PEER_RESPONSE' && event.messageName === 'PUT_VALUE') taken++
    return taken
  }

  async get(key: Uint8Array, signal: AbortSignal): Promise<Uint8Array | undefined> {
    for await (const event of this.#libp2p.services.dht.get(key, { signal }))
      if (event.name === 'VALUE') return event.value
    return undefined
  }

  async stop(): Promise<void> {
    await this.#libp2p.stop()
  }

  #connected(peerId: PeerId): void {
    const tracker = nodeIdOfPeer(peerId, this.#modules.crypto)
    if (tracker === undefined) return
    this.#linked.set(tracker, peerId)
    this.#modules.events.onLinked(tracker)
  }

  #disconnected(peerId: PeerId): void {
    const tracker = nodeIdOfPeer(peerId, this.#modules.crypto)
    if (tracker !== undefined && this.#linked.delete(tracker)) this.#modules.events.onUnlinked(tracker)
  }

  /** The first frame says where the circuit leads; an empty frame answers it once the way is open. */
  async #incoming(stream: Stream, peerId: PeerId): Promise<void> {
    const { events, count, crypto } = this.#modules
    const tracker = nodeIdOfPeer(peerId, crypto)
    if (tracker === undefined) return stream.abort(new Error('not a tracker'))
    const channel = this.#channelOf(stream, `over ${tracker}`)
    try {
      const path = decodePath(await channel.first(AbortSignal.timeout(this.#limits.dialTimeoutMs)))
      const onward = path.length === 0 ? undefined : await this.openCircuit(path)
      channel.send(opened)
      events.onCircuit(channel, onward)
    } catch {
      count('circuitsRefused')
      channel.close(true)
    }
  }

  #channelOf(stream: Stream, remoteAddress?: string): StreamChannel {
    return new StreamChannel(stream, { maxFrameBytes: this.#limits.maxCircuitQueueBytes, remoteAddress })
  }

  #abort(peerId: PeerId, why: string): void {
    for (const connection of this.#libp2p.getConnections(peerId)) {
      try {
        connection.abort(new Error(why))
      } catch {
        // It was closing already, and cannot send a reason any more.
      }
    }
  }
}
