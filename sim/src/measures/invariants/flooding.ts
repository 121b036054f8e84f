import type { NodeId } from '@runnel/protocol'
import type { Breaches } from './breaches.ts'

export interface FloodingOptions {
  /** A message has reached everybody after so long. */
  readonly withinMs: number
}

export interface FloodingModules {
  readonly breaches: Breaches
  nowMs(): number
  /** Grows when something happens that may cost a message. Trackers that come and go are no such thing. */
  disturbances(): number
  /** Whether the node has the message, or is no longer there to have it. */
  has(nodeId: NodeId, key: string): boolean
}

interface Flood {
  readonly key: string
  readonly dueMs: number
  readonly disturbances: number
  readonly reached: ReadonlySet<NodeId>
}

/** In calm, a message reaches every node that permanent edges connect to its publisher, with or without a tracker. */
export class FloodingChecker {
  readonly #options: FloodingOptions
  readonly #modules: FloodingModules
  #floods: Flood[] = []
  /** Messages that were published and checked in calm. */
  checked = 0

  constructor(options: FloodingOptions, modules: FloodingModules) {
    this.#options = options
    this.#modules = modules
  }

  /** Published where `reached` are connected to the publisher. */
  published(key: string, reached: ReadonlySet<NodeId>): void {
    const { nowMs, disturbances } = this.#modules
    const dueMs = nowMs() + this.#options.withinMs
    this.#floods.push({ key, dueMs, disturbances: disturbances(), reached })
  }

  check(): void {
    const { nowMs, disturbances, has, breaches } = this.#modules
    this.#floods = this.#floods.filter((flood) => flood.disturbances === disturbances())
    const due = this.#floods.filter(({ dueMs }) => dueMs <= nowMs())
    this.#floods = this.#floods.filter(({ dueMs }) => dueMs > nowMs())
    for (const { key, reached } of due) {
      this.checked++
      for (const nodeId of reached)
        if (!has(nodeId, key)) breaches.report('flooding', `${nodeId} did not get ${key}`)
    }
  }
}
