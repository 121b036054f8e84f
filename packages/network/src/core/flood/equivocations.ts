import { compareRefs, type MessageBatch, type NodeId, type Time } from '@runnel/protocol'
import type { Counters } from '../counters.ts'
import type { OverlayEffects } from '../overlay-effects.ts'
import type { Authorship } from '../delegations/authorship.ts'
import type { StreamPart } from '../stream-part/stream-part.ts'
import { decodeKept } from './chain-batches.ts'
import type { KeptContradiction } from './recent-batches.ts'

export interface EquivocationsModules {
  readonly effects: Pick<OverlayEffects, 'sendData' | 'accepted' | 'equivocation'>
  readonly counters: Counters
  readonly authorship: Authorship
}

/** A batch that came, and how. */
export interface Arrival {
  readonly batch: MessageBatch
  readonly packet: Uint8Array
  readonly from: NodeId | undefined
}

/**
 * Publishers that sign two messages for one place, one for each half of an overlay. Whoever meets both knows, as the one
 * is still kept; and passes the one that counts on to its neighbours, once for each place, so that all get to know.
 */
export class Equivocations {
  readonly #maxEvidence: number
  readonly #modules: EquivocationsModules

  constructor(limits: { readonly maxEvidencePerChain: number }, modules: EquivocationsModules) {
    this.#maxEvidence = limits.maxEvidencePerChain
    this.#modules = modules
  }

  /** A batch came of which every place was marked already. Its signature is looked at only when it says something new. */
  meet(part: StreamPart, arrival: Arrival, time: Time): 'handled' | 'forged' {
    const { batch } = arrival
    const found = part.recent.contradictions(batch)
    if (!found.some(({ kept, contradiction }) => !kept.isContradicted || contradiction.winner === batch))
      return 'handled'
    const { authorship } = this.#modules
    if (authorship.lacks(batch) !== undefined) return 'handled'
    if (!authorship.isSigned(batch)) return 'forged'
    if (authorship.permission(batch, time.wallMs) !== 'allowed') return 'handled'
    const isNews = this.#tellAll(part, found, batch)
    if (!this.#replace(part, found, arrival, time.nowMs)) return 'handled'
    this.#modules.effects.accepted(part.id, batch)
    if (isNews) this.#passOn(part, arrival)
    return 'handled'
  }

  /** A batch was taken of which some places were marked already. True when it is kept in place of another. */
  taken(part: StreamPart, arrival: Arrival, nowMs: number): boolean {
    const found = part.recent.contradictions(arrival.batch)
    this.#tellAll(part, found, arrival.batch)
    return this.#replace(part, found, arrival, nowMs)
  }

  /** Keeps a batch in place of the first one that it counts before. False when there is none. */
  #replace(
    part: StreamPart,
    found: readonly KeptContradiction[],
    { batch, packet }: Arrival,
    nowMs: number,
  ): boolean {
    const loser = found.find(({ contradiction }) => contradiction.winner === batch)?.kept
    if (loser === undefined) return false
    const before = { ...loser }
    part.recent.replace(loser, batch, packet)
    // It may have more messages than the two share.
    if (compareRefs(loser.first, before.first) > 0 || compareRefs(loser.last, before.last) < 0)
      part.recent.add(decodeKept(before), before.packet, nowMs, true)
    return true
  }

  /** False when all of it was known. */
  #tellAll(part: StreamPart, found: readonly KeptContradiction[], batch: MessageBatch): boolean {
    const news = found.filter(({ kept }) => !kept.isContradicted)
    for (const { kept, contradiction } of news) {
      kept.isContradicted = true
      this.#modules.counters['data.equivocations']++
      const progress = part.seen.find(kept.chain)
      if (progress !== undefined && progress.evidence++ >= this.#maxEvidence) continue
      const delivered = contradiction.winner === batch ? 'loser' : 'winner'
      this.#modules.effects.equivocation({ streamPartId: part.id, ...contradiction, delivered })
    }
    return news.length > 0
  }

  #passOn(part: StreamPart, { batch, packet, from }: Arrival): void {
    for (const peerId of part.attached) {
      if (peerId === from) continue
      this.#modules.counters['data.forwarded']++
      this.#modules.effects.sendData(peerId, packet, batch.delegationRef)
    }
  }
}
