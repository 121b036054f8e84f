import { isRunnelError, type NodeId } from '@runnel/protocol'
import type { TrackerLogger } from '../logger.ts'
import type { ClusterCounterName } from './core/cluster-counters.ts'
import { discover } from './discovery.ts'
import type { ClusterNetwork } from './libp2p/cluster-network.ts'
import type { ClusterLimits } from './limits.ts'
import type { RegisteredTracker } from './ports.ts'

export interface PeersModules {
  readonly self: NodeId
  readonly network: ClusterNetwork
  readonly logger: TrackerLogger
  nodeIdOfPeer(peerId: string): NodeId | undefined
  count(name: ClusterCounterName): void
  now(): number
}

interface Peer {
  readonly tracker: RegisteredTracker
  isLinked: boolean
  isDialling: boolean
  failures: number
  retryAt: number
  /** Why the last attempt to reach it failed. */
  error: string | undefined
}

/** The links to the other registered trackers: all of them are wanted. */
export class TrackerPeers {
  readonly #limits: ClusterLimits
  readonly #modules: PeersModules
  readonly #peers = new Map<NodeId, Peer>()

  constructor(limits: ClusterLimits, modules: PeersModules) {
    this.#limits = limits
    this.#modules = modules
  }

  get linkedCount(): number {
    return [...this.#peers.values()].filter(({ isLinked }) => isLinked).length
  }

  /** The state of the link to a tracker. */
  stateOf(id: NodeId): { readonly linked: boolean; readonly error: string | null } {
    const peer = this.#peers.get(id)
    return { linked: peer?.isLinked ?? false, error: peer?.error ?? null }
  }

  /** The other trackers as listed in the registry now. */
  update(trackers: readonly RegisteredTracker[]): void {
    const wanted = new Map(trackers.map((tracker) => [tracker.nodeId, tracker]))
    for (const id of [...this.#peers.keys()]) {
      if (wanted.has(id)) continue
      this.#peers.delete(id)
      this.#modules.network.hangUp(id)
    }
    for (const [id, tracker] of wanted) {
      const known = this.#peers.get(id)
      if (known?.tracker.url === tracker.url) continue
      const isLinked = known?.isLinked ?? false
      const retryAt = this.#modules.now() + this.#patienceMs(id)
      // A dial of the URL before ends for itself: the new one is dialled beside it.
      const fresh = { isDialling: false, failures: 0, error: undefined }
      this.#peers.set(id, { tracker, isLinked, retryAt, ...fresh })
    }
  }

  linked(id: NodeId): void {
    const peer = this.#peers.get(id)
    // It was removed from the registry while it connected.
    if (peer === undefined) return this.#modules.network.hangUp(id)
    Object.assign(peer, { isLinked: true, failures: 0, error: undefined })
    this.#modules.logger.info({ tracker: id }, 'linked to another tracker')
  }

  unlinked(id: NodeId): void {
    const peer = this.#peers.get(id)
    if (peer === undefined) return
    Object.assign(peer, {
      isLinked: false,
      retryAt: this.#modules.now() + this.#limits.minRetryMs + this.#patienceMs(id),
    })
    this.#modules.logger.warn({ tracker: id }, 'the link to another tracker closed')
  }

  /** Dials the missing ones, each when it is due. */
  review(): void {
    for (const peer of this.#peers.values()) {
      if (peer.isLinked || peer.isDialling || peer.retryAt > this.#modules.now()) continue
      peer.isDialling = true
      this.#connect(peer.tracker)
        .then(() => (peer.error = undefined))
        .catch((error: unknown) => this.#failed(peer, error))
        .finally(() => (peer.isDialling = false))
    }
  }

  /** Of two trackers the one with the lower id dials first. */
  #patienceMs(id: NodeId): number {
    return this.#modules.self < id ? 0 : this.#limits.dialPatienceMs
  }

  async #connect(tracker: RegisteredTracker): Promise<void> {
    const { network, nodeIdOfPeer } = this.#modules
    const { addresses } = await discover(tracker, this.#limits, { nodeIdOfPeer })
    if (this.#peers.get(tracker.nodeId)?.isLinked) return
    await network.dial(tracker.nodeId, addresses, AbortSignal.timeout(this.#limits.dialTimeoutMs))
  }

  #failed(peer: Peer, error: unknown): void {
    const { minRetryMs, maxRetryMs } = this.#limits
    const { logger, count, now } = this.#modules
    if (peer.isLinked) return
    const isDiscovery = isRunnelError(error)
    count(isDiscovery ? 'discoveriesFailed' : 'dialsFailed')
    const reason = error instanceof Error ? error.message : String(error)
    const { nodeId: tracker, url } = peer.tracker
    const code = isDiscovery ? error.code : 'CLUSTER_PEER_UNREACHABLE'
    // Logged once for each new reason, because it is tried again forever.
    if (peer.error !== reason)
      logger.warn({ tracker, url, code, reason }, 'another tracker cannot be reached')
    peer.error = reason
    peer.retryAt = now() + Math.min(maxRetryMs, minRetryMs * 2 ** Math.min(peer.failures, 16))
    peer.failures++
  }
}
