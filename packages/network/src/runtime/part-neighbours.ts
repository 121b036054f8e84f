import type { NodeId, StreamPartId } from '@runnel/protocol'
import type { Links } from '@runnel/transport'
import type { NodeCore } from '../core/node-core.ts'
import type { StreamPart } from '../core/stream-part/stream-part.ts'
import { publisherRate } from '../core/urgent/publisher-rate.ts'
import { networkError } from '../errors.ts'
import type { WaitForNeighboursOptions } from '../ports.ts'
import type { Waiters } from './waiters.ts'

export interface PartNeighboursModules {
  readonly core: Pick<NodeCore, 'streamParts' | 'urgentReceivers'>
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

  /** Resolves when there are so many, or, if that is enough, when the tracker knows nobody. */
  wait(
    streamPartId: StreamPartId,
    { count = 1, orAlone = false, signal }: WaitForNeighboursOptions,
  ): Promise<void> {
    return this.#modules.waiters.wait(() => {
      const { attached, isAlone } = this.#joined(streamPartId)
      return attached.length >= count || (orAlone && isAlone)
    }, signal)
  }

  /** Resolves when one of them takes more, or there are none. */
  writable(streamPartId: StreamPartId, signal: AbortSignal | undefined): Promise<void> {
    return this.#modules.waiters.wait(() => this.isWritable(this.#joined(streamPartId).attached), signal)
  }

  isWritable(attached: readonly NodeId[]): boolean {
    if (attached.length === 0) return true
    return attached.some((peerId) => this.#modules.peers.get(peerId)?.writable === true)
  }

  /** See `NetworkNode.urgentKbitPerS`. */
  urgentKbitPerS(streamPartId: StreamPartId, publisherId: NodeId): number | undefined {
    const { core, peers } = this.#modules
    // A link that nothing is sent on is not known to carry much.
    const rates = core
      .urgentReceivers(streamPartId, publisherId)
      .map((peerId) => peers.get(peerId)?.urgentKbitPerSOf(publisherId))
    return publisherRate(rates.filter((rate) => rate !== undefined))
  }

  #joined(streamPartId: StreamPartId): StreamPart {
    this.#modules.assertRunning()
    const part = this.#modules.core.streamParts.get(streamPartId)
    if (part === undefined) throw networkError('NOT_JOINED', streamPartId)
    return part
  }
}
