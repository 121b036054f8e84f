import {
  compareRefs,
  type Contradiction,
  type MessageBatch,
  type MessageRef,
  type NodeId,
  type StreamId,
} from '@runnel/protocol'
import type { Counters } from '../counters.ts'
import type { NodeEffects } from '../effects.ts'
import type { StreamPart } from '../stream-part/stream-part.ts'
import type { KeptBatch } from './chain-batches.ts'
import type { KeptContradiction } from './recent-batches.ts'

export interface EquivocationsModules {
  readonly effects: Pick<NodeEffects, 'sendData' | 'accepted' | 'equivocation'>
  readonly counters: Counters
  verify(batch: MessageBatch): boolean
  checkPublisher(streamId: StreamId, publisherId: NodeId, nowMs: number): 'allowed' | 'denied' | 'unknown'
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
  meet(part: StreamPart, arrival: Arrival, nowMs: number): 'handled' | 'forged' {
    const { batch } = arrival
    const found = part.recent.contradictions(batch)
    if (!found.some(({ kept, contradiction }) => !kept.isContradicted || contradiction.winner === batch))
      return 'handled'
    if (!this.#modules.verify(batch)) return 'forged'
    const { streamId, publisherId } = batch.chain
    if (this.#modules.checkPublisher(streamId, publisherId, nowMs) !== 'allowed') return 'handled'
    const isNews = this.#tellAll(part, found)
    if (!this.#replace(part, found, arrival, nowMs)) return 'handled'
    this.#modules.effects.accepted(part.id, batch)
    if (isNews) this.#passOn(part, arrival)
    return 'handled'
  }

  /** A batch was taken of which some places were marked already. True when it is kept in place of another. */
  taken(part: StreamPart, arrival: Arrival, nowMs: number): boolean {
    const found = part.recent.contradictions(arrival.batch)
    this.#tellAll(part, found)
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
    const before = { batch: loser.batch, packet: loser.packet }
    part.recent.replace(loser, batch, packet)
    // It may have more messages than the two share.
    if (!reachesOver(batch, before.batch)) part.recent.add(before.batch, before.packet, nowMs, true)
    return true
  }

  #tellAll(part: StreamPart, found: readonly KeptContradiction[]): boolean {
    return found.filter(({ kept, contradiction }) => this.#tell(part, kept, contradiction)).length > 0
  }

  /** False when it is known of what is kept already. */
  #tell(part: StreamPart, kept: KeptBatch, contradiction: Contradiction): boolean {
    if (kept.isContradicted) return false
    kept.isContradicted = true
    this.#modules.counters['data.equivocations']++
    const progress = part.seen.find(kept.batch.chain)
    if (progress !== undefined && progress.evidence++ >= this.#maxEvidence) return true
    const delivered = contradiction.winner === kept.batch ? 'winner' : 'loser'
    this.#modules.effects.equivocation({ streamPartId: part.id, ...contradiction, delivered })
    return true
  }

  #passOn(part: StreamPart, { packet, from }: Arrival): void {
    for (const peerId of part.attached) {
      if (peerId === from) continue
      this.#modules.counters['data.forwarded']++
      this.#modules.effects.sendData(peerId, packet)
    }
  }
}

/** True when all places of `inner` are between the first and the last of `outer`. */
function reachesOver({ messages: outer }: MessageBatch, { messages: inner }: MessageBatch): boolean {
  return (
    compareRefs(outer[0] as MessageRef, inner[0] as MessageRef) <= 0 &&
    compareRefs(outer.at(-1) as MessageRef, inner.at(-1) as MessageRef) >= 0
  )
}
