import type { Clock, Crypto, NodeId } from '@runnel/protocol'
import type { TrackerLogger } from '../logger.ts'
import type { ClusterOptions } from './cluster-options.ts'
import type { ClusterCounterName } from './core/cluster-counters.ts'
import type { ClusterNetwork, ClusterNetworkEvents } from './libp2p/cluster-network.ts'
import type { RegisteredTrackers } from './registered-trackers.ts'
import { TrackerPeers } from './tracker-peers.ts'

export interface ClusterLinksModules {
  readonly self: NodeId
  readonly crypto: Crypto
  readonly clock: Clock
  readonly logger: TrackerLogger
  readonly registered: RegisteredTrackers
  readonly events: ClusterNetworkEvents
  onJoined(): void
  count(name: ClusterCounterName): void
}

/** This tracker's network and its links to the others. They exist while there is another tracker to link to. */
export class ClusterLinks {
  readonly #options: ClusterOptions
  readonly #modules: ClusterLinksModules
  #joined: { readonly network: ClusterNetwork; readonly peers: TrackerPeers } | undefined
  #joining: Promise<void> | undefined
  #failedAt: number | undefined
  #isStopped = false

  constructor(options: ClusterOptions, modules: ClusterLinksModules) {
    this.#options = options
    this.#modules = modules
  }

  /** Undefined until it listens. */
  get network(): ClusterNetwork | undefined {
    return this.#joined?.network
  }

  /** Whether the last attempt to listen failed. */
  get hasFailed(): boolean {
    return this.#failedAt !== undefined
  }

  get linkedCount(): number {
    return this.#joined?.peers.linkedCount ?? 0
  }

  /** The state of the link to another tracker. */
  stateOf(id: NodeId): { readonly linked: boolean; readonly error: string | null } {
    return this.#joined?.peers.stateOf(id) ?? { linked: false, error: null }
  }

  linked(tracker: NodeId): void {
    this.#joined?.peers.linked(tracker)
  }

  unlinked(tracker: NodeId): void {
    this.#joined?.peers.unlinked(tracker)
  }

  /** The registry changed. */
  update(): void {
    this.#joined?.peers.update(this.#modules.registered.others)
  }

  /** Joins when there is another tracker, and maintains the links. */
  review(): void {
    this.#joined?.peers.review()
    const { registered, clock, logger } = this.#modules
    if (registered.others.length === 0 || this.#joined !== undefined || this.#joining !== undefined) return
    const nowMs = clock.monotonicMs()
    if (this.#failedAt !== undefined && nowMs - this.#failedAt < this.#options.limits.maxRetryMs) return
    this.#joining = this.#join()
      .catch((error: unknown) => {
        this.#failedAt = clock.monotonicMs()
        const reason = error instanceof Error ? error.message : String(error)
        logger.error({ reason }, 'cannot join the cluster of trackers; trying again')
      })
      .finally(() => (this.#joining = undefined))
  }

  /** Closes all links, which are then opened anew. Returns those there were. */
  hangUp(): NodeId[] {
    const { network } = this
    const linked = this.#modules.registered.others
      .map(({ nodeId }) => nodeId)
      .filter((id) => this.stateOf(id).linked)
    for (const id of linked) network?.hangUp(id)
    return linked
  }

  /** Stops permanently. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#joining
    await this.#joined?.network.stop()
    this.#joined = undefined
  }

  async #join(): Promise<void> {
    const { limits, listen, privateKey } = this.#options
    const { crypto, self, logger, registered, clock, count, events } = this.#modules
    // A tracker that is alone needs none of this.
    const [{ startNetwork }, { nodeIdOfPeerText }] = await Promise.all([
      import('./libp2p/start-network.ts'),
      import('./libp2p/peer-key.ts'),
    ])
    const mayJoin = (id: NodeId) => !this.#isStopped && registered.has(id)
    const network = await startNetwork({ ...listen, privateKey, limits }, { crypto, mayJoin, count, events })
    if (this.#isStopped) return network.stop()
    const nodeIdOfPeer = (peerId: string) => nodeIdOfPeerText(peerId, crypto)
    const now = () => clock.monotonicMs()
    const peers = new TrackerPeers(limits, { self, network, logger, nodeIdOfPeer, count, now })
    this.#failedAt = undefined
    this.#joined = { network, peers }
    logger.info({ peerId: network.peerId, addresses: network.addresses }, 'joined the cluster of trackers')
    this.update()
    this.#modules.onJoined()
  }
}
