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
  /** False in a light node. */
  readonly relays: boolean
}

/** A batch that came, and how. */
export interface Arrival {
  readonly batch: MessageBatch
  readonly packet: Uint8Array
  readonly from: NodeId | undefined
}

/**
 * Detects publishers that sign two messages for one place and send each to one half of an overlay. A node that meets both
 * knows, as one of them is still kept. It forwards the one that counts to its neighbours, once per place, so that all learn of
 * it.
 */
export class Equivocations {
  readonly #maxEvidence: number
  readonly #modules: EquivocationsModules

  constructor(limits: { readonly maxEvidencePerChain: number }, modules: EquivocationsModules) {
    this.#maxEvidence = limits.maxEvidencePerChain
    this.#modules = modules
  }

  /** A batch came whose places were all marked already. Its signature is checked only when its content differs. */
  meet(part: StreamPart, arrival: Arrival, time: Time): 'handled' | 'forged' {
    const { batch } = arrival
    const found = part.recent.contradictions(batch)
    if (!found.some(({ kept, contradiction }) => !kept.isContradicted || contradiction.winner === batch))
      return 'handled'
    const { authorship } = this.#modules
    const author = authorship.authorOf(batch)
    if (author === undefined || authorship.isOfOtherChain(author)) return 'handled'
    if (!authorship.isSigned(batch, author)) return 'forged'
    if (authorship.mayPublish(author, time.wallMs) !== 'allowed') return 'handled'
    const isNews = this.#tellAll(part, found, batch)
    if (!this.#replace(part, found, arrival, time.nowMs)) return 'handled'
    this.#modules.effects.accepted(part.id, batch)
    if (isNews) this.#passOn(part, arrival)
    return 'handled'
  }

  /** A batch was accepted of which some places were marked already. True when it replaces a kept one. */
  taken(part: StreamPart, arrival: Arrival, nowMs: number): boolean {
    const found = part.recent.contradictions(arrival.batch)
    this.#tellAll(part, found, arrival.batch)
    return this.#replace(part, found, arrival, nowMs)
  }

  /** Keeps a batch in place of the first one that it takes precedence over. False when there is none. */
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
    // It may have messages beyond the places that the two share.
    if (compareRefs(loser.first, before.first) > 0 || compareRefs(loser.last, before.last) < 0)
      part.recent.add(decodeKept(before), before.packet, nowMs, { isContradicted: true })
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
    if (!this.#modules.relays) return
    for (const peerId of part.receivers) {
      if (peerId === from) continue
      this.#modules.counters['data.forwarded']++
      this.#modules.effects.sendData(peerId, packet, batch.delegationRef)
    }
  }
}
