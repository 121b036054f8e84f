import type { NodeId } from '@runnel/protocol'
import type { Breaches } from './breaches.ts'

export interface ServedOptions {
  /** What one end has, the other has after so long. */
  readonly withinMs: number
}

export interface ServedModules {
  readonly breaches: Breaches
  nowMs(): number
  /** When frames were last lost or held up. */
  troubledMs(): number
  /** Whether the node has the message, or is no longer there to have it. */
  has(nodeId: NodeId, key: string): boolean
}

interface Expected {
  readonly from: NodeId
  readonly to: NodeId
  readonly key: string
  readonly sinceMs: number
}

/**
 * What an honest host has, its attached guests get, and what a guest publishes, its attached hosts get: whatever becomes of other hosts
 * and of the overlay meanwhile. Nothing is promised once the attachment has ended.
 */
export class ServedChecker {
  readonly #options: ServedOptions
  readonly #modules: ServedModules
  #expected: Expected[] = []
  /** Messages that were checked. */
  checked = 0

  constructor(options: ServedOptions, modules: ServedModules) {
    this.#options = options
    this.#modules = modules
  }

  expect(from: NodeId, to: NodeId, key: string): void {
    this.#expected.push({ from, to, key, sinceMs: this.#modules.nowMs() })
  }

  /** The two are attached no longer, in stream parts whose messages have keys that begin so. */
  ended(one: NodeId, other: NodeId, keysBegin = ''): void {
    this.#expected = this.#expected.filter(
      ({ from, to, key }) =>
        !key.startsWith(keysBegin) || !((from === one && to === other) || (from === other && to === one)),
    )
  }

  /** A node is gone. */
  gone(nodeId: NodeId): void {
    this.#expected = this.#expected.filter(({ from, to }) => from !== nodeId && to !== nodeId)
  }

  check(): void {
    const { nowMs, troubledMs, has, breaches } = this.#modules
    const left: Expected[] = []
    for (const expected of this.#expected) {
      const { from, to, key, sinceMs } = expected
      if (has(to, key)) this.checked++
      else if (Math.max(sinceMs, troubledMs()) + this.#options.withinMs > nowMs()) left.push(expected)
      else breaches.report('served', `${to} did not get ${key}, which ${from} has`)
    }
    this.#expected = left
  }
}
