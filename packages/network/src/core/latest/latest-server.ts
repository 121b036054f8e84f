import { toHex, type AskLatest, type NodeId } from '@runnel/protocol'
import { Allowances } from '../allowances.ts'
import type { Counters } from '../counters.ts'
import { drop } from '../drop.ts'
import type { OverlayEffects } from '../overlay-effects.ts'
import type { StreamPartMap } from '../stream-part/stream-part-map.ts'

export interface LatestServerModules {
  readonly effects: Pick<OverlayEffects, 'sendControl' | 'dropped'>
  readonly counters: Counters
  readonly parts: StreamPartMap
  /** False while the link's queue is above its high mark. */
  canTakeMore(peerId: NodeId): boolean
}

/** Tells neighbours the newest message of a key. */
export class LatestServer {
  readonly #modules: LatestServerModules
  readonly #allowances: Allowances

  constructor(limits: { readonly maxLatestPerS: number }, modules: LatestServerModules) {
    this.#modules = modules
    this.#allowances = new Allowances(limits.maxLatestPerS)
  }

  /** What is refused is not answered: a neighbour that is about to be one asks again. */
  onAsk(peerId: NodeId, { requestId, streamPartId, tag }: AskLatest, nowMs: number): void {
    const { parts, effects, counters, canTakeMore } = this.#modules
    const part = parts.get(streamPartId)
    if (part?.isAttached(peerId) !== true) return this.#refuse(peerId, 'no neighbour')
    if (!this.#allowances.take(peerId, nowMs)) return this.#refuse(peerId, 'too many')
    if (!canTakeMore(peerId)) return this.#refuse(peerId, 'its queue is full')
    counters['latest.answered']++
    const batch = part.latest.find(tag && toHex(tag), nowMs)
    effects.sendControl(peerId, { type: 'latest', requestId, batch })
  }

  linkClosed(peerId: NodeId): void {
    this.#allowances.linkClosed(peerId)
  }

  #refuse(peerId: NodeId, why: string): void {
    drop(this.#modules, 'latest.refused', `${peerId}: ${why}`)
  }
}
