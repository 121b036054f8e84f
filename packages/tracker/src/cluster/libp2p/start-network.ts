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
import { createLibp2p } from 'libp2p'
import { trackerError } from '../../errors.ts'
import type { ClusterCounterName } from '../core/cluster-counters.ts'
import { recordNamespace } from '../core/record.ts'
import { encodeFrame, FrameReader, type RelayFrame } from '../core/relay-frame.ts'
import type { ClusterLimits } from '../limits.ts'
import { BoundedDatastore } from './bounded-datastore.ts'
import type { ClusterNetwork, ClusterNetworkEvents } from './cluster-network.ts'
import { nodeIdOfPeer, nodeIdOfPeerText } from './peer-key.ts'

const kadProtocol = '/runnel/kad/1.0.0'
/** Pings at once on one connection. */
const pingStreams = 32
const relayProtocol = '/runnel/relay/1.0.0'

export interface NetworkOptions {
  /** The registered key, 32 bytes. */
  readonly privateKey: Uint8Array
  readonly host: string
  readonly port: number
  /** Multiaddresses other trackers dial, where they are not those listened on. */
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
    streamMuxers: [yamux()],
    connectionGater: {
      // Trackers on one machine or in one network are as good as others.
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
      // The hash table pings, too: with the one stream of the default either would take the other's for a dead connection.
      ping: ping({ maxInboundStreams: pingStreams, maxOutboundStreams: pingStreams }),
      dht: kadDHT({
        protocol: kadProtocol,
        clientMode: false,
        peerInfoMapper: passthroughMapper,
        initialQuerySelfInterval: 1_000,
        validators: {
          [recordNamespace]: async (key, value) => modules.events.onRecord(key, value),
          // Keys are in the peer ids; nobody stores them here.
          pk: () => Promise.reject(trackerError('CLUSTER_RECORD_MALFORMED', 'a public key')),
        },
        selectors: { [recordNamespace]: () => 0, pk: () => 0 },
        networkDialTimeout: { minTimeout: limits.readTimeoutMs, maxTimeout: limits.writeTimeoutMs },
      }),
    },
  })
}

/** A link to another tracker: frames leave by a stream of this side's, and come by one of the other's. */
interface Link {
  readonly peerId: PeerId
  /** Undefined until it is open… */
  stream: Stream | undefined
  /** … and what waits for that. */
  readonly waiting: Uint8Array[]
  waitingBytes: number
}

class Libp2pNetwork implements ClusterNetwork {
  readonly #limits: ClusterLimits
  readonly #modules: NetworkModules
  readonly #libp2p: Libp2p<Services>
  readonly #links = new Map<NodeId, Link>()
  /** The stream by which each tracker's frames come. */
  readonly #inbound = new Map<NodeId, Stream>()

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
    libp2p.addEventListener('peer:connect', ({ detail }) => void this.#connected(detail))
    libp2p.addEventListener('peer:disconnect', ({ detail }) => this.#disconnected(detail))
    await libp2p.handle(relayProtocol, (stream, { remotePeer }) => this.#incoming(stream, remotePeer), {
      maxInboundStreams: 2,
      maxOutboundStreams: 2,
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
    const link = this.#links.get(tracker)
    if (link !== undefined) this.#abort(link.peerId, 'no longer wanted')
  }

  send(tracker: NodeId, frame: RelayFrame): boolean {
    const link = this.#links.get(tracker)
    if (link === undefined) return false
    const bytes = encodeFrame(frame)
    const { stream } = link
    const queued = stream?.writeBufferLength ?? link.waitingBytes
    if (queued + bytes.length > this.#limits.maxLinkQueueBytes) return false
    if (stream === undefined) {
      link.waiting.push(bytes)
      link.waitingBytes += bytes.length
      return true
    }
    return trySend(stream, bytes)
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

  async #connected(peerId: PeerId): Promise<void> {
    const tracker = nodeIdOfPeer(peerId, this.#modules.crypto)
    if (tracker === undefined) return
    const link: Link = { peerId, stream: undefined, waiting: [], waitingBytes: 0 }
    this.#links.set(tracker, link)
    try {
      const signal = AbortSignal.timeout(this.#limits.dialTimeoutMs)
      const stream = await this.#libp2p.dialProtocol(peerId, relayProtocol, { signal })
      if (this.#links.get(tracker) !== link) return stream.abort(new Error('the connection is gone'))
      // A little beyond what `send` allows: it should never be the stream that says no.
      stream.maxWriteBufferLength = 2 * this.#limits.maxLinkQueueBytes
      stream.addEventListener('close', () => this.#closed(tracker, link))
      link.stream = stream
      for (const bytes of link.waiting.splice(0)) trySend(stream, bytes)
      this.#modules.events.onLinked(tracker)
    } catch {
      this.#abort(peerId, 'it takes no frames')
    }
  }

  /** Of two connections to the same tracker, dialled at the same time, the one with the stream was closed. */
  #closed(tracker: NodeId, link: Link): void {
    if (this.#links.get(tracker) !== link) return
    this.#disconnected(link.peerId)
    if (this.#libp2p.getConnections(link.peerId).length > 0) void this.#connected(link.peerId)
  }

  #disconnected(peerId: PeerId): void {
    const tracker = nodeIdOfPeer(peerId, this.#modules.crypto)
    const link = tracker === undefined ? undefined : this.#links.get(tracker)
    if (tracker === undefined || link === undefined) return
    this.#links.delete(tracker)
    if (link.stream !== undefined) this.#modules.events.onUnlinked(tracker)
  }

  #incoming(stream: Stream, peerId: PeerId): void {
    const tracker = nodeIdOfPeer(peerId, this.#modules.crypto)
    if (tracker === undefined) return stream.abort(new Error('not a tracker'))
    const reader = new FrameReader(this.#limits)
    stream.addEventListener('message', ({ data }) => {
      if (this.#inbound.get(tracker) !== stream) return
      try {
        const frames = reader.push(data instanceof Uint8Array ? data : data.subarray())
        for (const frame of frames) this.#modules.events.onFrame(tracker, frame)
      } catch {
        this.#modules.count('malformedFrames')
        this.#abort(peerId, 'what it sends are no frames')
      }
    })
    const before = this.#inbound.get(tracker)
    this.#inbound.set(tracker, stream)
    stream.addEventListener('close', () => {
      if (this.#inbound.get(tracker) === stream) this.#inbound.delete(tracker)
    })
    if (before === undefined || this.#links.get(tracker)?.stream === undefined) return
    // The other side has begun anew, and knows nothing of what went on before.
    this.#modules.events.onUnlinked(tracker)
    this.#modules.events.onLinked(tracker)
  }

  #abort(peerId: PeerId, why: string): void {
    for (const connection of this.#libp2p.getConnections(peerId)) {
      try {
        connection.abort(new Error(why))
      } catch {
        // It was closing already, and cannot say goodbye any more.
      }
    }
  }
}

/** False when the stream is closed, or closes at this moment: then it throws. */
function trySend(stream: Stream, bytes: Uint8Array): boolean {
  if (stream.status !== 'open') return false
  try {
    stream.send(bytes)
    return true
  } catch {
    return false
  }
}
