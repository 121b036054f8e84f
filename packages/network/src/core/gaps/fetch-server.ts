import type { Fetch, NodeId } from '@runnel/protocol'
import { Allowances } from '../allowances.ts'
import type { Counters } from '../counters.ts'
import { drop } from '../drop.ts'
import type { OverlayEffects } from '../overlay-effects.ts'
import type { StreamPart } from '../stream-part/stream-part.ts'
import type { StreamPartMap } from '../stream-part/stream-part-map.ts'
import type { Thinning } from '../thin/thinning.ts'

export interface FetchServerModules {
  readonly effects: Pick<OverlayEffects, 'sendControl' | 'sendData' | 'dropped'>
  readonly counters: Counters
  readonly parts: StreamPartMap
  readonly thinning: Pick<Thinning, 'wayFor'>
  /** False in a light node, which gives nothing but what it publishes itself. */
  readonly relays: boolean
  /** False while the link's queue is above its high mark. */
  canTakeMore(peerId: NodeId): boolean
}

/** An answer no larger may be lost: before it could be late, another neighbour is asked. */
const maxLossyAnswerBytes = 4 * 1024

/** Answers fetches of neighbours from recent batches. */
export class FetchServer {
  readonly #modules: FetchServerModules
  readonly #allowances: Allowances

  constructor(limits: { readonly maxFetchesPerS: number }, modules: FetchServerModules) {
    this.#modules = modules
    this.#allowances = new Allowances(limits.maxFetchesPerS)
  }

  onFetch(peerId: NodeId, fetch: Fetch, nowMs: number): void {
    const { parts, effects, counters } = this.#modules
    const part = parts.get(fetch.streamPartId)
    if (part?.isAttached(peerId) !== true) this.#refuse(peerId, 'no neighbour')
    else if (!this.#allowances.take(peerId, nowMs)) this.#refuse(peerId, 'too many')
    else {
      counters['fetch.answered']++
      const { complete, mayLose } = this.#send(part, peerId, fetch, nowMs)
      effects.sendControl(peerId, { type: 'fetched', requestId: fetch.requestId, complete }, mayLose)
    }
  }

  linkClosed(peerId: NodeId): void {
    this.#allowances.linkClosed(peerId)
  }

  #send(
    part: StreamPart,
    peerId: NodeId,
    fetch: Fetch,
    nowMs: number,
  ): { readonly complete: boolean; readonly mayLose: boolean } {
    const { effects, counters, thinning, canTakeMore } = this.#modules
    if (!canTakeMore(peerId)) {
      this.#refuse(peerId, 'its queue is full')
      return { complete: false, mayLose: false }
    }
    const progress = part.seen.find(fetch)
    const isGiven = this.#modules.relays || progress?.isOwn === true
    const { batches, complete } = isGiven ? part.recent.find(fetch) : { batches: [], complete: true }
    counters['fetch.batches'] += batches.length
    const bytes = batches.reduce((sum, { packet }) => sum + packet.length, 0)
    const mayLose = bytes > 0 && bytes <= maxLossyAnswerBytes
    // A large answer goes as it is kept: to shorten it is to copy it.
    const shortened = mayLose ? progress : undefined
    for (const { packet, delegationRef, batchHeaderBytes } of batches) {
      const way =
        shortened && thinning.wayFor(peerId, { progress: shortened, batchHeaderBytes, mayLose }, nowMs)
      effects.sendData(peerId, packet, delegationRef, way ?? { mayLose })
    }
    return { complete, mayLose }
  }

  #refuse(peerId: NodeId, why: string): void {
    drop(this.#modules, 'fetch.refused', `${peerId}: ${why}`)
  }
}
