import type { NodeId, Status, StreamPartId } from '@runnel/protocol'
import type { Departures } from './departures.ts'
import { isolated } from './isolated.ts'
import type { Leadership } from './leadership.ts'
import type { RelayedNodes } from './relayed-nodes.ts'
import type { PartPacket, RouterModules } from './router-modules.ts'

export interface HandoverParts {
  readonly leadership: Leadership
  readonly nodes: RelayedNodes
  readonly departures: Departures
  relay(from: NodeId, packet: PartPacket, target: NodeId, now: number): void
  prepare(status: Status): void
}

type HandoverModules = Pick<
  RouterModules,
  'self' | 'ledParts' | 'release' | 'toCore' | 'connected' | 'moved' | 'count' | 'fault'
>

/** Moves stream parts, each whole, to where they should be when that changes. */
export class Handovers {
  readonly #modules: HandoverModules
  readonly #parts: HandoverParts

  constructor(modules: HandoverModules, parts: HandoverParts) {
    this.#modules = modules
    this.#parts = parts
  }

  reviewAll(now: number): void {
    for (const id of [...this.#modules.ledParts(), ...this.#parts.nodes.parts]) this.review(id, now)
  }

  /** Whether a stream part is where it should be. */
  review(id: StreamPartId, now: number): void {
    isolated({ streamPartId: id }, this.#modules, () => this.#review(id, now))
  }

  #review(id: StreamPartId, now: number): void {
    const { self, moved } = this.#modules
    const { leadership, nodes } = this.#parts
    const routedTo = nodes.targetOf(id)
    const current = routedTo ?? self
    const target = leadership.leader(id, current)
    if (target === current) return
    moved(id, target)
    if (routedTo === undefined) this.#handOver(id, target, now)
    else if (target === self) this.#takeOver(id)
    else nodes.redirect(id, target)
  }

  #handOver(id: StreamPartId, target: NodeId, now: number): void {
    const { release, connected, count } = this.#modules
    const { departures, relay } = this.#parts
    const released = release(id)
    if (released.length === 0) return
    count('handovers')
    for (const { nodeId, status, storing } of released) {
      isolated({ nodeId, streamPartId: id }, this.#modules, () => {
        // Who is leaving has gone there by itself, or does not want to be there.
        if (departures.delete(nodeId, id) || connected(nodeId) === undefined) return
        relay(nodeId, status, target, now)
        if (storing) relay(nodeId, { type: 'storing', streamPartId: id, storing }, target, now)
      })
    }
  }

  #takeOver(id: StreamPartId): void {
    const { count, toCore } = this.#modules
    count('takeovers')
    for (const { nodeId, part } of this.#parts.nodes.takeBack(id)) {
      const { status, storing } = part
      if (status === undefined) continue
      isolated({ nodeId, streamPartId: id }, this.#modules, () => {
        this.#parts.prepare(status)
        toCore(nodeId, status)
        if (storing) toCore(nodeId, { type: 'storing', streamPartId: id, storing })
      })
    }
  }
}
