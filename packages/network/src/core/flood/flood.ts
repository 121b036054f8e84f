import type { MessageBatch, NodeId, Time } from '@runnel/protocol'
import type { CounterName, Counters } from '../counters.ts'
import { drop } from '../drop.ts'
import type { Author, Authorship } from '../delegations/authorship.ts'
import { reliably, type OverlayEffects } from '../overlay-effects.ts'
import type { HostWatch } from '../hosts/host-watch.ts'
import type { StreamPart } from '../stream-part/stream-part.ts'
import type { StreamPartMap } from '../stream-part/stream-part-map.ts'
import type { Onward } from '../thin/onward.ts'
import type { Thinning } from '../thin/thinning.ts'
import { DeniedPublishers } from './denied-publishers.ts'
import { Equivocations, type Arrival } from './equivocations.ts'
import { HeldBatches, type HeldBatch, type HeldBatchesLimits } from './held-batches.ts'

export interface FloodLimits extends HeldBatchesLimits {
  readonly clockToleranceMs: number
  readonly maxDeniedPublishers: number
  readonly deniedWindowMs: number
  readonly maxEvidencePerChain: number
}

export interface FloodModules {
  readonly effects: Pick<
    OverlayEffects,
    | 'sendControl'
    | 'sendData'
    | 'accepted'
    | 'duplicate'
    | 'equivocation'
    | 'deliver'
    | 'resolvePublisher'
    | 'dropped'
  >
  readonly counters: Counters
  readonly parts: StreamPartMap
  readonly authorship: Authorship
  /** False in a light node, which sends on nothing but what it publishes itself. */
  readonly relays: boolean
  readonly thinning: Pick<Thinning, 'taken' | 'again'>
  /** Told of what a light node's hosts bring. */
  readonly watch?: Pick<HostWatch, 'accepted' | 'again'> | undefined
  /** A neighbour does what no correct node does. */
  misbehaved(peerId: NodeId, detail: string, nowMs: number): void
}

/**
 * What becomes of a batch. In this order: seen already? timestamps? delegation known, and of this chain? publisher? signature? Only then is it marked as seen,
 * forwarded to all neighbours but the sender, and delivered: what was not checked leaves no trace.
 */
export class Flood {
  readonly #limits: FloodLimits
  readonly #modules: FloodModules
  readonly #held: HeldBatches
  readonly #denied: DeniedPublishers
  readonly #equivocations: Equivocations

  constructor(limits: FloodLimits, modules: FloodModules) {
    this.#limits = limits
    this.#modules = modules
    this.#denied = new DeniedPublishers(limits)
    this.#equivocations = new Equivocations(limits, modules)
    this.#held = new HeldBatches(limits, {
      counters: modules.counters,
      onRefused: ({ batch }) => this.#drop('held.refused', batch),
    })
  }

  /**
   * Takes a batch from a neighbour, or from the archive without one. `forged` when the signature is wrong, which a correct
   * neighbour would have noticed.
   */
  receive(
    part: StreamPart,
    batch: MessageBatch,
    packet: Uint8Array,
    from: NodeId | undefined,
    time: Time,
  ): 'handled' | 'forged' {
    const { nowMs, wallMs } = time
    const arrival = { batch, packet, from }
    if (!part.seen.hasNew(batch)) return this.#again(part, arrival, time)
    const newest = batch.messages.at(-1)
    if (newest === undefined || newest.timestamp > wallMs + this.#limits.clockToleranceMs) {
      this.#drop('data.timestampAhead', batch)
      return 'handled'
    }
    const refusal = part.seen.refusalOf(batch, wallMs)
    if (refusal !== undefined) {
      this.#drop(refusal, batch)
      return 'handled'
    }
    const { authorship } = this.#modules
    const author = authorship.authorOf(batch)
    if (author === undefined) {
      this.#askDelegation(arrival)
      return 'handled'
    }
    if (authorship.isOfOtherChain(author)) {
      this.#drop('data.delegationOtherChain', batch)
      return 'handled'
    }
    const permission = authorship.mayPublish(author, wallMs, batch.messages[0]?.timestamp)
    if (permission === 'denied') {
      this.#deny(part, arrival, nowMs)
      return 'handled'
    }
    if (!authorship.isSigned(batch, author)) {
      this.#drop('data.forged', batch)
      return 'forged'
    }
    if (permission === 'unknown') this.#hold({ ...arrival, author }, nowMs)
    else this.#accept(part, arrival, nowMs)
    return 'handled'
  }

  /** Floods a batch of this process, whose signer has checked it. */
  publish(batch: MessageBatch, packet: Uint8Array, nowMs: number): void {
    const part = this.#modules.parts.ofChain(batch.chain)
    if (part === undefined || !part.seen.hasNew(batch)) return
    const { counters } = this.#modules
    counters['published.batches']++
    counters['published.messages'] += batch.messages.length
    part.published += batch.messages.length
    part.seen.own(batch.chain)
    this.#accept(part, { batch, packet, from: undefined }, nowMs)
  }

  /** When `tick` is due. */
  get dueMs(): number {
    return this.#held.dueMs
  }

  tick(nowMs: number): void {
    for (const { author, from } of this.#held.due(nowMs)) this.#resolve(author, from)
  }

  /** An author was looked up: what waited for it is flooded or dropped, or waits on when nobody could say. */
  resolved(author: Author, found: boolean, time: Time): void {
    const { nowMs, wallMs } = time
    const { authorship } = this.#modules
    const isKnown = found && authorship.mayPublish(author, wallMs) !== 'unknown'
    if (!isKnown && this.#held.retry(author, nowMs)) return
    for (const arrival of this.#held.release(author)) {
      const { batch } = arrival
      const oldestMs = batch.messages[0]?.timestamp
      // By what was held, as its delegation may be forgotten by now.
      const permission = isKnown ? authorship.mayPublish(arrival.author, wallMs, oldestMs) : 'unknown'
      const part = this.#modules.parts.ofChain(batch.chain)
      if (part === undefined) this.#drop('data.notJoined', batch)
      else if (permission === 'unknown') this.#drop('held.unresolved', batch)
      else if (permission === 'denied') this.#deny(part, arrival, nowMs)
      else this.#modules.parts.within(part, () => this.#release(part, arrival, time))
    }
  }

  linkClosed(peerId: NodeId): void {
    this.#denied.forget(peerId)
  }

  /** Checks a held batch as if it came now, except that its signature is known to be good. */
  #release(part: StreamPart, arrival: HeldBatch, time: Time): void {
    if (!part.seen.hasNew(arrival.batch)) {
      this.#again(part, arrival, time)
      return
    }
    const refusal = part.seen.refusalOf(arrival.batch, time.wallMs)
    if (refusal === undefined) {
      this.#modules.authorship.keep(arrival.author, arrival.from)
      this.#accept(part, arrival, time.nowMs)
    } else this.#drop(refusal, arrival.batch)
  }

  /** All of it was seen, which is so for three of four batches. */
  #again(part: StreamPart, arrival: Arrival, time: Time): 'handled' | 'forged' {
    const { batch, from } = arrival
    const newest = batch.messages.at(-1)
    if (from !== undefined && newest !== undefined) part.seen.shown(from, batch.chain, newest)
    if (from !== undefined) this.#modules.thinning.again(part, batch, from, time.nowMs)
    if (from !== undefined) this.#modules.watch?.again(part.id, batch, from, time.nowMs)
    part.duplicates += batch.messages.length
    this.#modules.counters['data.duplicates'] += batch.messages.length
    this.#modules.effects.duplicate(part.id, batch)
    if (this.#equivocations.meet(part, arrival, time) === 'handled') return 'handled'
    this.#drop('data.forged', batch)
    return 'forged'
  }

  #deny(part: StreamPart, { batch, from }: Arrival, nowMs: number): void {
    this.#drop('data.publisherDenied', batch)
    if (from === undefined || !part.isAttached(from)) return
    if (this.#denied.note(from, batch.delegationRef ?? batch.chain.publisherId, nowMs))
      this.#modules.misbehaved(from, 'it forwards batches of publishers without permission', nowMs)
  }

  /** Whoever forwards a batch has its delegation; the batch comes again as its gap is filled. */
  #askDelegation({ batch, from }: Arrival): void {
    this.#drop('data.delegationUnknown', batch)
    const { delegationRef: ref } = batch
    if (from === undefined || ref === undefined) return
    this.#modules.effects.sendControl(from, { type: 'askDelegation', ref })
  }

  #hold(arrival: HeldBatch, nowMs: number): void {
    if (this.#held.hold(arrival, nowMs) === 'ask') this.#resolve(arrival.author, arrival.from)
  }

  #resolve({ scope, publisherId, delegation }: Author, from: NodeId | undefined): void {
    this.#modules.effects.resolvePublisher(scope, publisherId, from, delegation)
  }

  #accept(part: StreamPart, arrival: Arrival, nowMs: number): void {
    const { effects, counters } = this.#modules
    const { batch, packet, from } = arrival
    const fresh = part.seen.mark(batch, from, nowMs)
    const again = batch.messages.length - fresh.length
    const isAlone = from === undefined && part.attached.length === 0
    if (again === 0 || !this.#equivocations.taken(part, arrival, nowMs))
      part.recent.add(batch, packet, nowMs, { isAlone })
    part.latest.note(batch, packet, nowMs)
    part.gaps.heads.news(nowMs)
    const onward = this.#modules.thinning.taken(part, batch, from, nowMs)
    this.#forward(part, arrival, onward, nowMs)
    part.duplicates += again
    counters['data.duplicates'] += again
    counters['data.batches']++
    counters['data.messages'] += fresh.length
    part.delivered += fresh.length
    effects.accepted(part.id, batch)
    for (const message of fresh) effects.deliver(part.id, message, from)
  }

  /** To all but those who have it, or asked to be told of it only. */
  #forward(
    part: StreamPart,
    { batch, packet, from }: Arrival,
    onward: Onward | undefined,
    nowMs: number,
  ): void {
    const { effects, counters, relays, watch } = this.#modules
    const progress = relays ? undefined : part.seen.find(batch.chain)
    if (progress?.isOwn === false) {
      if (progress.newest !== undefined)
        watch?.accepted(
          { streamPartId: part.id, hosts: part.attached, batch, from, newest: progress.newest },
          nowMs,
        )
      return
    }
    for (const peerId of part.receivers) {
      if (peerId === from) continue
      const way = onward === undefined ? reliably : onward.copyFor(peerId)
      if (way === undefined) continue
      counters['data.forwarded']++
      effects.sendData(peerId, packet, batch.delegationRef, way)
    }
  }

  #drop(counter: CounterName, batch: MessageBatch): void {
    drop(this.#modules, counter, describe(batch))
  }
}

function describe({ chain, messages }: MessageBatch): string {
  return `${messages.length} messages of ${chain.publisherId} in ${chain.streamId}#${chain.partition}`
}
