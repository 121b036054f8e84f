import type { NodeId, StreamPartId } from '@runnel/protocol'
import type { Links } from '@runnel/transport'
import type { NodeCore } from '../core/node-core.ts'
import { networkError } from '../errors.ts'
import type { Waiters } from './waiters.ts'

export interface PartNeighboursModules {
  readonly core: Pick<NodeCore, 'streamParts'>
  readonly peers: Links['peers']
  readonly waiters: Waiters
  /** Throws when the node does not run. */
  assertRunning(): void
}

/** The attached neighbours of stream parts, for whoever waits for them. Throws NODE_NOT_RUNNING and NOT_JOINED. */
export class PartNeighbours {
  readonly #modules: PartNeighboursModules

  constructor(modules: PartNeighboursModules) {
    this.#modules = modules
  }

  /** Resolves when there are so many. */
  wait(streamPartId: StreamPartId, count: number, signal: AbortSignal | undefined): Promise<void> {
    return this.#modules.waiters.wait(() => this.#attached(streamPartId).length >= count, signal)
  }

  /** Resolves when one of them takes more, or there are none. */
  writable(streamPartId: StreamPartId, signal: AbortSignal | undefined): Promise<void> {
    return this.#modules.waiters.wait(() => this.isWritable(this.#attached(streamPartId)), signal)
  }

  isWritable(attached: readonly NodeId[]): boolean {
    if (attached.length === 0) return true
    return attached.some((peerId) => this.#modules.peers.get(peerId)?.writable === true)
  }

  #attached(streamPartId: StreamPartId): readonly NodeId[] {
    this.#modules.assertRunning()
    const part = this.#modules.core.streamParts.get(streamPartId)
    if (part === undefined) throw networkError('NOT_JOINED', streamPartId)
    return part.attached
  }
}
