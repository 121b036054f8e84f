import {
  addressOf,
  carrierKind,
  limits,
  type Clock,
  type Contact,
  type IceServers,
  type NodeId,
} from '@runnel/protocol'
import { DelayQueue } from '../core/timing/delay-queue.ts'
import type { IceServerSource } from '../ice/ice-server-source.ts'

/** Nodes offering to carry circuits that are named to the others: one of each network before a second of any, the first to come. */
const maxNamedCarriers = 4
/** Shortest time between two lists of other carriers sent to a node, in milliseconds, unless it had none. */
const carriersEveryMs = 60_000

/** Which nodes have ICE servers and carriers of circuits, and when each needs new ones. */
export class IceLeases {
  readonly #ice: IceServerSource
  readonly #clock: Clock
  readonly #informed = new Set<NodeId>()
  readonly #renewals: DelayQueue<NodeId>
  /** URLs of the nodes that carry circuits, by the networks they connect from; both in the order in which they came. */
  readonly #carriers = new Map<string, Map<NodeId, string>>()
  /** The networks of these nodes. */
  readonly #networks = new Map<NodeId, string>()
  /** Those to name next: kept, as `dueMs` is asked for after each packet. */
  #chosen: readonly string[] = []
  #named: readonly string[] = []
  #namedMs = -Infinity

  constructor({ ice, clock }: { readonly ice: IceServerSource; readonly clock: Clock }) {
    this.#ice = ice
    this.#clock = clock
    this.#renewals = new DelayQueue(ice.renewAfterMs ?? Infinity)
  }

  /** When a renewal is due, by the monotonic clock; Infinity when there is none. */
  get dueMs(): number {
    const carriersDueMs = this.#areCarriersNew() ? this.#namedMs + carriersEveryMs : Infinity
    return Math.min(this.#renewals.nextAt ?? Infinity, carriersDueMs)
  }

  /** How a node, which connects from this network, is reached: it may carry circuits, or no longer. */
  reached(nodeId: NodeId, contact: Contact, network: string): void {
    const url = addressOf(contact, carrierKind)
    if (url === undefined || this.#networks.get(nodeId) !== network) this.#carriesNoLonger(nodeId)
    if (url === undefined) return
    const ofNetwork = this.#carriers.get(network) ?? new Map<NodeId, string>()
    this.#carriers.set(network, ofNetwork.set(nodeId, url))
    this.#networks.set(nodeId, network)
    this.#chosen = this.#choice()
  }

  #carriesNoLonger(nodeId: NodeId): void {
    const network = this.#networks.get(nodeId)
    if (network === undefined) return
    this.#networks.delete(nodeId)
    const ofNetwork = this.#carriers.get(network)
    ofNetwork?.delete(nodeId)
    if (ofNetwork?.size === 0) this.#carriers.delete(network)
    this.#chosen = this.#choice()
  }

  /** Nodes to be told of other carriers now. */
  *takeNewCarriers(): Generator<NodeId> {
    const nowMs = this.#clock.monotonicMs()
    const isDue = this.#named.length === 0 || nowMs >= this.#namedMs + carriersEveryMs
    if (!isDue || !this.#areCarriersNew()) return
    this.#named = this.#chosen
    this.#namedMs = nowMs
    yield* [...this.#informed]
  }

  #choice(): readonly string[] {
    const ofNetworks = firstOf(this.#carriers.values()).map((urls) => firstOf(urls.values()))
    const ranks = Array.from({ length: maxNamedCarriers }, (_, rank) => rank)
    const urls = ranks.flatMap((rank) => ofNetworks.flatMap((ofNetwork) => ofNetwork[rank] ?? []))
    return [...new Set(urls)].slice(0, maxNamedCarriers)
  }

  #areCarriersNew(): boolean {
    return this.#chosen.join(' ') !== this.#named.join(' ')
  }

  has(nodeId: NodeId): boolean {
    return this.#informed.has(nodeId)
  }

  /** The packet for a node, whether it has a lease or not; undefined when there are no servers. */
  grant(nodeId: NodeId): IceServers | undefined {
    const { servers: fixed, ...rest } = this.#ice.serversFor(nodeId, this.#clock.now())
    const carriers = this.#named.map((url) => ({ url, username: '', credential: '' }))
    const servers = [...fixed, ...carriers].slice(0, limits.maxIceServers)
    // Remembered also without any, to be told when there are.
    this.#informed.add(nodeId)
    if (servers.length === 0) return undefined
    const packet = { ...rest, servers }
    if (this.#ice.renewAfterMs !== undefined) this.#renewals.add(nodeId, this.#clock.monotonicMs())
    return packet
  }

  /** Nodes whose lease is due for renewal. */
  *takeDue(): Generator<NodeId> {
    const nowMs = this.#clock.monotonicMs()
    for (let id = this.#renewals.takeDue(nowMs); id !== undefined; id = this.#renewals.takeDue(nowMs))
      yield id
  }

  /** The node has connected again, and may have lost everything. */
  reconnected(nodeId: NodeId): void {
    this.#informed.delete(nodeId)
  }

  gone(nodeId: NodeId): void {
    this.#carriesNoLonger(nodeId)
    this.#informed.delete(nodeId)
    this.#renewals.delete(nodeId)
  }
}

/** No more of them than can be named. */
function firstOf<Item>(items: Iterable<Item>): Item[] {
  const first: Item[] = []
  for (const item of items) if (first.push(item) === maxNamedCarriers) break
  return first
}
