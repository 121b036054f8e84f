import type { Clock, IceServers, NodeId } from '@runnel/protocol'
import { DelayQueue } from '../core/timing/delay-queue.ts'
import type { IceServerSource } from '../ice/ice-server-source.ts'

/** Which nodes have ICE servers, and when each needs new ones. */
export class IceLeases {
  readonly #ice: IceServerSource
  readonly #clock: Clock
  readonly #informed = new Set<NodeId>()
  readonly #renewals: DelayQueue<NodeId>

  constructor({ ice, clock }: { readonly ice: IceServerSource; readonly clock: Clock }) {
    this.#ice = ice
    this.#clock = clock
    this.#renewals = new DelayQueue(ice.renewAfterMs ?? Infinity)
  }

  /** When a renewal is due, by the monotonic clock; Infinity when there is none. */
  get dueMs(): number {
    return this.#renewals.nextAt ?? Infinity
  }

  has(nodeId: NodeId): boolean {
    return this.#informed.has(nodeId)
  }

  /** The packet for a node, whether it has a lease or not; undefined when there are no servers. */
  grant(nodeId: NodeId): IceServers | undefined {
    const packet = this.#ice.serversFor(nodeId, this.#clock.now())
    if (packet.servers.length === 0) return undefined
    this.#informed.add(nodeId)
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
    this.#informed.delete(nodeId)
    this.#renewals.delete(nodeId)
  }
}
