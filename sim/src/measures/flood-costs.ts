import type { NetworkNode } from '@runnel/network'
import type { Clock } from '@runnel/protocol'
import { percentile, round } from './statistics.ts'

/** What messages cost on their way to some nodes. */
export interface FloodCosts {
  /** Copies of a message received by a node that received it. */
  readonly copies: number
  /** From a message's timestamp until a node has it, however it came. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

/** Watches how often messages come to nodes, and when. The clock is the one that publishers take timestamps from. */
export class FloodWatch {
  readonly #clock: Clock
  readonly #nodes = new Set<NetworkNode>()
  readonly #delaysMs: number[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(node: NetworkNode): void {
    this.#nodes.add(node)
    node.on('message', ({ message, from }) => {
      if (from !== undefined) this.#delaysMs.push(this.#clock.now() - message.timestamp)
    })
  }

  /** Copies are counted at those that are still there. */
  costs(isThere: (node: NetworkNode) => boolean = () => true): FloodCosts {
    let [fresh, duplicates] = [0, 0]
    for (const node of this.#nodes) {
      if (!isThere(node)) continue
      for (const part of node.metrics().streamParts) {
        fresh += part.delivered - part.published
        duplicates += part.duplicates
      }
    }
    const at = (share: number): number => round(percentile(this.#delaysMs, share) ?? 0)
    return { copies: round(1 + duplicates / fresh), p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) }
  }
}
