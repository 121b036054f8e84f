import {
  buildBatch,
  ContentType,
  createIdentity,
  delegationRef,
  encodeDelegation,
  generatePrivateKey,
  loadCrypto,
  parseStreamPartId,
  signDelegation,
  toStreamId,
  toStreamPartId,
  type BatchSigner,
  type BuiltBatch,
  type Crypto,
  type Delegation,
  type DelegationClaim,
  type Identity,
  type MessageRef,
  type NodeId,
  type StreamPartId,
  type OverlayStrategyName,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createNetworkNode, type NetworkNode, type TrackerAddress } from '@runnel/network'
import type { Acting } from '@runnel/transport'
import { createTracker, type Tracker } from '@runnel/tracker'
import { showProgress } from './phase.ts'
import { benchError } from './errors.ts'
import { settled } from './settling.ts'

export type BenchTransport = 'webrtc' | 'websocket' | 'mixed'

const clock = systemClock
const random = systemRandom

/** A fresh key. */
export function newIdentity(crypto: Crypto): Identity {
  return createIdentity(generatePrivateKey(random), crypto)
}

/** For all that the user may, for a day. */
export function newDelegation(crypto: Crypto, user: Identity, delegateId: NodeId): Delegation {
  const fromMs = clock.now() - 1000
  const claim: DelegationClaim = {
    ...{ chainId: 0, userId: user.nodeId, delegateId, fromMs, untilMs: fromMs + 86_400_000 },
    ...{ publishes: true, reads: true, streams: [], requester: 'https://bench.example', block: 0 },
  }
  return signDelegation(claim, crypto, user)
}

/** A fresh key that signs for a user. */
export function newDelegate(
  crypto: Crypto,
  user: Identity,
): { readonly signer: BatchSigner; readonly delegation: Delegation } {
  const delegate = newIdentity(crypto)
  const delegation = newDelegation(crypto, user, delegate.nodeId)
  const ref = delegationRef(encodeDelegation(delegation), crypto)
  return { signer: { ...delegate, delegationRef: ref }, delegation }
}

/** That a node acts for a user, which signed a delegation to its key. */
export function actingFor(user: Identity, nodeId: NodeId, crypto: Crypto): Acting {
  const credential = { delegation: newDelegation(crypto, user, nodeId) }
  return { chainId: undefined, credential: () => credential, onChange: () => () => undefined }
}

export interface SwarmOptions {
  readonly transport: BenchTransport
  /** False takes every publisher's signature on trust; links still prove ids. */
  readonly verify: boolean
  readonly degree?: number
  /** With `random` no edge is exchanged once all are in. Default: the tracker's. */
  readonly overlay?: OverlayStrategyName
  /** Whether nodes send digests in place of copies. Default false: what is measured are floods, beside bare ones that send all copies. */
  readonly thinFloods?: boolean
  /** Whether all nodes act for the publisher, and a delegate signs batches. Default: each is its own user. */
  readonly delegated?: boolean
  /** One in another process. Default: one of its own in this. */
  readonly tracker?: TrackerAddress
}

/** Nodes, and mostly their tracker, in this process, found without a chain: everything else is what production runs. */
export class Swarm {
  readonly crypto: Crypto
  readonly publisher: Identity
  /** Signs for the publisher. */
  readonly signer: BatchSigner
  readonly streamPartId: StreamPartId
  readonly nodes: NetworkNode[] = []
  readonly #delegation: Delegation | undefined
  readonly #options: SwarmOptions
  /** Of its own. */
  readonly #tracker: Tracker | undefined

  private constructor(crypto: Crypto, options: SwarmOptions) {
    this.crypto = crypto
    this.#options = options
    this.publisher = newIdentity(crypto)
    const delegate = options.delegated ? newDelegate(crypto, this.publisher) : undefined
    this.#delegation = delegate?.delegation
    this.signer = delegate?.signer ?? this.publisher
    this.streamPartId = toStreamPartId(toStreamId(`${this.publisher.nodeId}/bench`), 0)
    this.#tracker = options.tracker === undefined ? this.#newTracker() : undefined
  }

  #newTracker(): Tracker {
    const { degree = 4, overlay } = this.#options
    const options = { listen: { host: '127.0.0.1', port: 0 }, degree }
    return createTracker(overlay === undefined ? options : { ...options, overlay }, {
      identity: newIdentity(this.crypto),
      ...{ crypto: this.crypto, clock, random },
    })
  }

  static async start(options: SwarmOptions): Promise<Swarm> {
    const swarm = new Swarm(await loadCrypto(), options)
    await swarm.#tracker?.start()
    return swarm
  }

  /** A node that is not started yet. */
  createNode(): NetworkNode {
    const { transport, verify, delegated } = this.#options
    const identity = newIdentity(this.crypto)
    const tracker = this.#options.tracker ?? this.#tracker
    if (tracker === undefined) throw new Error('no tracker')
    const { nodeId, url } = tracker
    const reachable = transport === 'websocket' || (transport === 'mixed' && this.nodes.length % 2 === 0)
    const node = createNetworkNode(
      {
        thinFloods: this.#options.thinFloods ?? false,
        transports: {
          websocket: reachable ? { listen: { host: '127.0.0.1', port: 0 } } : {},
          webrtc: transport === 'websocket' ? false : {},
        },
      },
      {
        identity,
        ...(delegated ? { acting: actingFor(this.publisher, identity.nodeId, this.crypto) } : {}),
        crypto: this.crypto,
        clock,
        random,
        publisherPolicy: { check: () => 'allowed', resolve: async () => {} },
        trackers: { trackersFor: () => [{ nodeId, url }], onChange: () => () => {} },
        ...(verify ? {} : { verify: () => true }),
      },
    )
    // The first one publishes.
    if (this.#delegation !== undefined && this.nodes.length === 0) node.delegations.add(this.#delegation)
    return node
  }

  /** Starts `count` more nodes, joined and with all their neighbours attached. */
  async grow(count: number): Promise<void> {
    const degree = this.#options.degree ?? 4
    const fresh = Array.from({ length: count }, () => {
      const node = this.createNode()
      this.nodes.push(node)
      return node
    })
    let started = 0
    showProgress(() => `${started} of ${count} nodes started`)
    for (const node of fresh) {
      await node.start()
      node.join(this.streamPartId)
      started++
    }
    const neighbours = Math.min(degree, this.nodes.length - 1)
    await Promise.all(
      this.nodes.map((node) => node.waitForNeighbours(this.streamPartId, { count: neighbours })),
    )
  }

  /** Waits until every node has exactly as many neighbours as it should; rejects if that takes too long. */
  async settle(): Promise<void> {
    const wanted = Math.min(this.#options.degree ?? 4, this.nodes.length - 1)
    const ends = () => this.nodes.map((node) => node.metrics().streamParts[0]?.neighbours.length ?? 0)
    const isDone = () => ends().every((count) => count === wanted)
    showProgress(() => `neighbours ${ends().join(' ')} of ${wanted} each`)
    let changes = 0
    const stops = this.nodes.map((node) => node.on('neighbours', () => changes++))
    const { done } = await settled({ isDone, progress: () => changes, quietMs: 20_000 })
    stops.forEach((stop) => stop())
    if (!done) throw benchError('TOO_SLOW', `the overlay did not settle: neighbours ${ends().join(' ')}`)
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()))
    await this.#tracker?.stop()
  }
}

/** Signs 100-byte messages of one chain. The first four bytes of the content are the message's number. */
export class Source {
  readonly #modules: Pick<Swarm, 'crypto' | 'publisher' | 'signer' | 'streamPartId'>
  #previous: MessageRef | undefined
  /** Messages made so far: the number of the next. */
  count = 0

  constructor(modules: Pick<Swarm, 'crypto' | 'publisher' | 'signer' | 'streamPartId'>) {
    this.#modules = modules
  }

  /** The next `size` messages as one signed batch. */
  next(size: number): BuiltBatch {
    const messages = Array.from({ length: size }, () => {
      const content = new Uint8Array(100)
      new DataView(content.buffer).setUint32(0, this.count)
      const ref = { timestamp: clock.now(), sequenceNumber: this.count++ }
      const draft = {
        ...ref,
        previous: this.#previous,
        contentType: ContentType.binary,
        encryptionType: 0,
        groupKeyId: '',
        content,
      }
      this.#previous = ref
      return draft
    })
    const { publisher, signer, crypto, streamPartId } = this.#modules
    const { streamId } = parseStreamPartId(streamPartId)
    const chain = { streamId, partition: 0, publisherId: publisher.nodeId, messageChainId: 'bench' }
    return buildBatch({ chain, messages }, crypto, signer)
  }
}

/** The number in a message made by `Source`. */
export function messageNumber(content: Uint8Array): number {
  return new DataView(content.buffer, content.byteOffset).getUint32(0)
}
