import { RareMap, type NodeId, type WantedNeighbour } from '@runnel/protocol'
import type { Links } from '@runnel/transport'
import { networkError } from '../errors.ts'
import type { NodeEvent } from '../core/events.ts'
import { Waiters } from './waiters.ts'

export interface DirectLinksModules {
  readonly self: NodeId
  readonly links: Pick<Links, 'peers' | 'keep'>
  dispatch(event: NodeEvent): void
  /** Throws when the node does not run. */
  assertRunning(): void
}

/** Links that the application asked for by peer, regardless of the overlays. */
export class DirectLinks {
  readonly #modules: DirectLinksModules
  readonly #waiters = new Waiters()
  /** Why the last attempt at an awaited link failed. */
  readonly #failures = new RareMap<NodeId, unknown>()
  readonly #waiting = new RareMap<NodeId, number>()

  constructor(modules: DirectLinksModules) {
    this.#modules = modules
  }

  async connect(peer: WantedNeighbour, signal: AbortSignal | undefined): Promise<{ release(): void }> {
    const { nodeId } = peer
    this.#modules.assertRunning()
    signal?.throwIfAborted()
    if (nodeId === this.#modules.self) throw networkError('LINK_FAILED', `${nodeId} is this node`)
    // It may fail within the call.
    this.#waiting.set(nodeId, (this.#waiting.get(nodeId) ?? 0) + 1)
    const release = this.hold(nodeId, peer)
    try {
      await this.#waiters.wait(() => this.#isOpen(nodeId), signal)
      return { release }
    } catch (error) {
      release()
      throw error
    } finally {
      const left = (this.#waiting.get(nodeId) ?? 1) - 1
      if (left > 0) this.#waiting.set(nodeId, left)
      else {
        this.#waiting.delete(nodeId)
        this.#failures.delete(nodeId)
      }
    }
  }

  /** Keeps a link; with a peer's contact it is opened too. */
  hold(peerId: NodeId, peer?: WantedNeighbour): () => void {
    this.#modules.dispatch({ type: 'hold', peerId, contact: peer?.contact })
    this.#modules.links.keep(peerId)
    let held = true
    return () => {
      if (held) this.#modules.dispatch({ type: 'unhold', peerId })
      held = false
    }
  }

  drained(peerId: NodeId, signal: AbortSignal | undefined): Promise<void> {
    return this.#waiters.wait(() => this.#modules.links.peers.get(peerId)?.writable ?? true, signal)
  }

  failed(peerId: NodeId, error: unknown): void {
    if (this.#waiting.has(peerId)) this.#failures.set(peerId, error)
    this.check()
  }

  /** Whoever still waits for it asked before it was known to be gone, or this node has ended it as it opened. */
  closed(peerId: NodeId, reason: string): void {
    this.failed(peerId, networkError('LINK_FAILED', `it closed: ${reason}`))
  }

  /** Something changed that a caller may wait for. */
  check(): void {
    this.#waiters.check()
  }

  #isOpen(peerId: NodeId): boolean {
    this.#modules.assertRunning()
    const cause = this.#failures.get(peerId)
    if (cause !== undefined) throw networkError('LINK_FAILED', peerId, { cause })
    return this.#modules.links.peers.has(peerId)
  }
}
