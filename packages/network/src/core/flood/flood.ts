import type { MessageBatch, NodeId, StreamId } from '@runnel/protocol'
import type { CounterName, Counters } from '../counters.ts'
import type { NodeEffects } from '../effects.ts'
import type { StreamPart } from '../stream-part/stream-part.ts'
import type { StreamPartMap } from '../stream-part/stream-part-map.ts'
import { HeldBatches, type HeldBatchesLimits } from './held-batches.ts'

export interface FloodLimits extends HeldBatchesLimits {
  readonly clockToleranceMs: number
}

export interface FloodModules {
  readonly effects: Pick<
    NodeEffects,
    'sendData' | 'accepted' | 'duplicate' | 'deliver' | 'resolvePublisher' | 'dropped'
  >
  readonly counters: Counters
  readonly parts: StreamPartMap
  /** True when the publisher that the batch names signed it. */
  verify(batch: MessageBatch): boolean
  /** May this publisher publish? */
  checkPublisher(streamId: StreamId, publisherId: NodeId, nowMs: number): 'allowed' | 'denied' | 'unknown'
}

/**
 * What becomes of a batch. In this order: seen already? timestamp? publisher? signature? Only then is it marked as seen,
 * forwarded to all neighbours but the sender, and delivered: what was not checked leaves no trace.
 */
export class Flood {
  readonly #limits: FloodLimits
  readonly #modules: FloodModules
  readonly #held: HeldBatches

  constructor(limits: FloodLimits, modules: FloodModules) {
    this.#limits = limits
    this.#modules = modules
    this.#held = new HeldBatches(limits, modules.counters)
  }

  /**
   * From a neighbour, or without one from the archive. `forged` when nobody signed it; a correct neighbour would have
   * noticed.
   */
  receive(
    part: StreamPart,
    batch: MessageBatch,
    packet: Uint8Array,
    from: NodeId | undefined,
    nowMs: number,
  ): 'handled' | 'forged' {
    if (this.#isDuplicate(part, batch, from)) return 'handled'
    const { streamId, publisherId } = batch.chain
    const newest = batch.messages.at(-1)
    if (newest === undefined || newest.timestamp > nowMs + this.#limits.clockToleranceMs) {
      this.#drop('data.timestampAhead', batch)
      return 'handled'
    }
    const permission = this.#modules.checkPublisher(streamId, publisherId, nowMs)
    if (permission === 'denied') {
      this.#drop('data.publisherDenied', batch)
      return 'handled'
    }
    if (!this.#modules.verify(batch)) {
      this.#drop('data.forged', batch)
      return 'forged'
    }
    if (permission === 'unknown') this.#hold(batch, packet, from, nowMs)
    else this.#accept(part, batch, packet, from, nowMs)
    return 'handled'
  }

  /** A batch of this process: whoever signed it has checked it. */
  publish(batch: MessageBatch, packet: Uint8Array, nowMs: number): void {
    const part = this.#modules.parts.ofChain(batch.chain)
    if (part === undefined || this.#isDuplicate(part, batch, undefined)) return
    const { counters } = this.#modules
    counters['published.batches']++
    counters['published.messages'] += batch.messages.length
    part.published += batch.messages.length
    this.#accept(part, batch, packet, undefined, nowMs)
  }

  /** When `tick` has something to do. */
  get dueMs(): number {
    return this.#held.dueMs
  }

  tick(nowMs: number): void {
    for (const { streamId, publisherId } of this.#held.due(nowMs))
      this.#modules.effects.resolvePublisher(streamId, publisherId)
  }

  /** A publisher was looked up: what waited for it is flooded or dropped, or waits on when nobody could say. */
  resolved(streamId: StreamId, publisherId: NodeId, found: boolean, nowMs: number): void {
    const permission = found ? this.#modules.checkPublisher(streamId, publisherId, nowMs) : 'unknown'
    if (permission === 'unknown' && this.#held.retry(streamId, publisherId, nowMs)) return
    for (const { batch, packet, from } of this.#held.release(streamId, publisherId)) {
      const part = this.#modules.parts.ofChain(batch.chain)
      if (permission === 'unknown') this.#drop('held.unresolved', batch)
      else if (permission === 'denied') this.#drop('data.publisherDenied', batch)
      else if (part === undefined) this.#drop('data.notJoined', batch)
      else
        this.#modules.parts.within(part, () => {
          if (!this.#isDuplicate(part, batch, from)) this.#accept(part, batch, packet, from, nowMs)
        })
    }
  }

  #isDuplicate(part: StreamPart, batch: MessageBatch, from: NodeId | undefined): boolean {
    if (part.seen.hasNew(batch)) return false
    const newest = batch.messages.at(-1)
    if (from !== undefined && newest !== undefined) part.seen.shown(from, batch.chain, newest)
    part.duplicates += batch.messages.length
    this.#modules.counters['data.duplicates'] += batch.messages.length
    this.#modules.effects.duplicate(part.id, batch)
    return true
  }

  #hold(batch: MessageBatch, packet: Uint8Array, from: NodeId | undefined, nowMs: number): void {
    const outcome = this.#held.hold({ batch, packet, from }, nowMs)
    const { streamId, publisherId } = batch.chain
    if (outcome === 'ask') this.#modules.effects.resolvePublisher(streamId, publisherId)
    else if (outcome === 'refused') this.#modules.effects.dropped('held.refused', describe(batch))
  }

  #accept(
    part: StreamPart,
    batch: MessageBatch,
    packet: Uint8Array,
    from: NodeId | undefined,
    nowMs: number,
  ): void {
    const { effects, counters } = this.#modules
    const fresh = part.seen.mark(batch, from, nowMs)
    part.recent.add(batch, packet, nowMs)
    part.gaps.heads.news(nowMs)
    for (const peerId of part.attached) {
      if (peerId === from) continue
      counters['data.forwarded']++
      effects.sendData(peerId, packet)
    }
    const again = batch.messages.length - fresh.length
    part.duplicates += again
    counters['data.duplicates'] += again
    counters['data.batches']++
    counters['data.messages'] += fresh.length
    part.delivered += fresh.length
    effects.accepted(part.id, batch)
    for (const message of fresh) effects.deliver(part.id, message, from)
  }

  #drop(counter: CounterName, batch: MessageBatch): void {
    this.#modules.counters[counter]++
    this.#modules.effects.dropped(counter, describe(batch))
  }
}

function describe({ chain, messages }: MessageBatch): string {
  return `${messages.length} messages of ${chain.publisherId} in ${chain.streamId}#${chain.partition}`
}
