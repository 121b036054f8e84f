import {
  limits as wireLimits,
  urgentMessageOf,
  RareLru,
  RareMap,
  type MessageBatch,
  type MessageChain,
  type MessageRef,
  type NodeId,
  type StreamMessage,
  type StreamPartId,
  type Time,
  type UrgentFields,
  type UrgentMessage,
} from '@runnel/protocol'
import type { CounterName, Counters } from '../counters.ts'
import { drop } from '../drop.ts'
import { authorKey, type Author, type Authorship } from '../delegations/authorship.ts'
import { DeniedPublishers } from '../flood/denied-publishers.ts'
import type { OverlayEffects } from '../overlay-effects.ts'
import type { StreamPart } from '../stream-part/stream-part.ts'
import type { StreamPartMap } from '../stream-part/stream-part-map.ts'
import { HeldUrgent, type HeldUrgentBatch, type HeldUrgentLimits } from './held-urgent.ts'
import { forgottenAfterMs, PublisherShare, type PublisherShareLimits } from './publisher-share.ts'
import { urgentChainKey } from './urgent-chains.ts'
import type { UrgentThinning } from './urgent-thinning.ts'

export interface UrgentFloodLimits extends PublisherShareLimits, HeldUrgentLimits {
  readonly clockToleranceMs: number
  readonly maxDeniedPublishers: number
  readonly deniedWindowMs: number
  readonly maxUrgentPublishers: number
}

export interface UrgentFloodModules {
  readonly effects: Pick<
    OverlayEffects,
    'sendControl' | 'sendUrgent' | 'deliver' | 'resolvePublisher' | 'dropped'
  >
  readonly counters: Counters
  readonly parts: Pick<StreamPartMap, 'ofChain' | 'within'>
  readonly authorship: Authorship
  readonly thinning: Pick<UrgentThinning, 'taken' | 'again' | 'isSent'>
  /** False in a light node, which sends on nothing but what it publishes itself. */
  readonly relays: boolean
  /** A neighbour does what no correct node does. */
  misbehaved(peerId: NodeId, detail: string, nowMs: number): void
}

type ChainId = Pick<MessageChain, 'publisherId' | 'messageChainId'>

/** An urgent batch on its way through this node. */
interface Arrival {
  readonly batch: MessageBatch
  readonly message: StreamMessage
  readonly fields: UrgentFields
  readonly remainingMs: number
  readonly from: NodeId | undefined
}

/**
 * What becomes of an urgent batch. As in `Flood`, what was not checked leaves no trace; but nothing is kept or looked for, and nothing waits
 * longer than its lifetime, for the answer whether its publisher may publish.
 */
export class UrgentFlood {
  readonly #limits: UrgentFloodLimits
  readonly #modules: UrgentFloodModules
  readonly #denied: DeniedPublishers
  readonly #parts = new RareMap<StreamPartId, Map<NodeId, PublisherShare>>()
  /** When it was asked about whom. */
  readonly #asked: RareLru<string, number>
  readonly #held: HeldUrgent

  constructor(limits: UrgentFloodLimits, modules: UrgentFloodModules) {
    this.#limits = limits
    this.#modules = modules
    this.#denied = new DeniedPublishers(limits)
    this.#asked = new RareLru(limits.maxUrgentPublishers)
    this.#held = new HeldUrgent(limits)
  }

  /** When `tick` has something to do, by the monotonic clock. */
  get dueMs(): number {
    return this.#held.dueMs
  }

  /** Drops what waited for an answer until it was of no more use. */
  tick(nowMs: number): void {
    for (const { batch } of this.#held.expire(nowMs)) this.#drop('urgent.unresolved', batch)
  }

  /** Takes a batch from a neighbour. `forged` when the signature is wrong, which a correct neighbour would have noticed. */
  receive(
    part: StreamPart,
    { batch, remainingMs }: { readonly batch: MessageBatch; readonly remainingMs: number },
    from: NodeId,
    time: Time,
  ): 'handled' | 'forged' {
    const { nowMs, wallMs } = time
    const urgent = urgentMessageOf(batch)
    if (urgent === undefined) return this.#drop('urgent.refused', batch)
    const { message, fields } = urgent
    const { publisherId, messageChainId } = batch.chain
    const share = this.#parts.get(part.id)?.get(publisherId)
    if (share?.isSeen(messageChainId, message) === true) {
      this.#again(part, { batch, message, fields, from }, nowMs)
      return 'handled'
    }
    if (remainingMs === 0) return this.#drop('urgent.late', batch)
    const ageMs = wallMs - message.timestamp
    const { clockToleranceMs } = this.#limits
    if (ageMs > fields.lifetimeMs + clockToleranceMs || ageMs < -clockToleranceMs)
      return this.#drop('urgent.timestamp', batch)
    if (share?.hasRoom(messageChainId, batch.bytes.length, nowMs) === false)
      return this.#drop('urgent.overShare', batch)
    const { authorship } = this.#modules
    const author = authorship.authorOf(batch)
    if (author === undefined) return this.#askDelegation(batch, from)
    if (authorship.isOfOtherChain(author)) return this.#drop('data.delegationOtherChain', batch)
    const permission = authorship.mayPublish(author, wallMs, message.timestamp)
    if (permission === 'denied') return this.#deny(part, batch, from, nowMs)
    if (permission === 'unknown' && this.#held.has(author, batch, message)) {
      this.#countDuplicate(part)
      return 'handled'
    }
    if (!authorship.isSigned(batch, author)) {
      this.#drop('data.forged', batch)
      return 'forged'
    }
    if (permission === 'unknown')
      this.#hold({ author, batch, message, fields, deadlineMs: nowMs + remainingMs, from }, nowMs)
    else this.#accept(part, { batch, message, fields, remainingMs, from }, nowMs)
    return 'handled'
  }

  /** An author was looked up: what waited for it and is still of use is flooded. */
  resolved(author: Author, time: Time): void {
    for (const held of this.#held.release(author)) {
      const part = this.#modules.parts.ofChain(held.batch.chain)
      if (part === undefined) this.#drop('data.notJoined', held.batch)
      else this.#modules.parts.within(part, () => this.#release(part, held, time))
    }
  }

  /** Floods a batch of this process, whose signer has checked it. */
  publish(part: StreamPart, batch: MessageBatch, nowMs: number): void {
    const urgent = urgentMessageOf(batch)
    if (urgent === undefined || batch.bytes.length > wireLimits.maxUrgentBatchBytes)
      this.#drop('urgent.refused', batch)
    else {
      part.published++
      this.#modules.counters['urgent.published']++
      this.#accept(part, { batch, ...urgent, remainingMs: urgent.fields.lifetimeMs, from: undefined }, nowMs)
    }
  }

  /** Whether a message came already, or would count as if it had. */
  isSeen(part: StreamPart, chain: ChainId, place: MessageRef): boolean {
    return this.#parts.get(part.id)?.get(chain.publisherId)?.isSeen(chain.messageChainId, place) ?? false
  }

  /** Whether a batch is new, and its publisher has room for it, so that its signature will be asked for. */
  isToCheck(part: StreamPart, batch: MessageBatch, nowMs: number): boolean {
    const message = urgentMessageOf(batch)?.message
    if (message === undefined) return false
    const { publisherId, messageChainId } = batch.chain
    const share = this.#parts.get(part.id)?.get(publisherId)
    if (share === undefined) return true
    return !share.isSeen(messageChainId, message) && share.hasRoom(messageChainId, batch.bytes.length, nowMs)
  }

  linkClosed(peerId: NodeId): void {
    this.#denied.forget(peerId)
  }

  left(streamPartId: StreamPartId): void {
    this.#parts.delete(streamPartId)
  }

  /** Checks a held batch as if it came now, except that its signature is known to be good. */
  #release(part: StreamPart, held: HeldUrgentBatch, { nowMs, wallMs }: Time): void {
    const { authorship } = this.#modules
    const { author, batch, message, fields, deadlineMs, from } = held
    const permission = authorship.mayPublish(author, wallMs, message.timestamp)
    if (permission === 'denied') this.#deny(part, batch, from, nowMs)
    else if (permission === 'unknown') this.#drop('urgent.unresolved', batch)
    else if (deadlineMs <= nowMs) this.#drop('urgent.late', batch)
    else if (this.isSeen(part, batch.chain, message)) this.#again(part, held, nowMs)
    else {
      authorship.keep(author, from)
      this.#accept(part, { batch, message, fields, remainingMs: deadlineMs - nowMs, from }, nowMs)
    }
  }

  #again(
    part: StreamPart,
    { batch, message, fields, from }: Pick<HeldUrgentBatch, 'batch' | 'message' | 'fields' | 'from'>,
    nowMs: number,
  ): void {
    this.#countDuplicate(part)
    this.#modules.thinning.again(part, { batch, place: message, priority: fields.priority, from }, nowMs)
  }

  #countDuplicate(part: StreamPart): void {
    part.duplicates++
    this.#modules.counters['urgent.duplicates']++
  }

  #accept(part: StreamPart, arrival: Arrival, nowMs: number): void {
    const { batch, message, fields, from } = arrival
    const share = this.#shareOf(part.id, batch.chain.publisherId, nowMs)
    const bytes = batch.bytes.length
    if (share?.hasRoom(batch.chain.messageChainId, bytes, nowMs) !== true) {
      this.#drop('urgent.overShare', batch)
      return
    }
    const priority = share.take(message, { bytes, priority: fields.priority }, nowMs)
    if (priority !== fields.priority) this.#modules.counters['urgent.demoted']++
    this.#forward(part, arrival, priority, nowMs)
    part.delivered++
    this.#modules.counters['urgent.messages']++
    this.#modules.effects.deliver(part.id, message, from, batch)
  }

  #forward(part: StreamPart, arrival: Arrival, priority: number, nowMs: number): void {
    const { batch, message, fields, remainingMs, from } = arrival
    const { relays, counters, effects, thinning } = this.#modules
    if (!relays && from !== undefined) return
    const { group, object, order } = fields
    const urgent: UrgentMessage = {
      ...{ batchBytes: batch.bytes, headerBytes: batch.headerEnd, deadlineMs: nowMs + remainingMs },
      ...{ priority, group, object, order },
      ...{ publisher: batch.chain.publisherId, chain: urgentChainKey(part.id, batch.chain) },
    }
    const coming = { batch, place: message, priority: fields.priority, from }
    const holders = thinning.taken(part, coming, nowMs)
    for (const peerId of part.receivers) {
      if (peerId === from) continue
      if (holders.includes(peerId) || !thinning.isSent(peerId, coming, urgent, nowMs)) {
        counters['urgent.spared']++
        continue
      }
      counters['urgent.forwarded']++
      effects.sendUrgent(peerId, urgent, batch.delegationRef)
    }
  }

  /** Undefined when there are too many publishers. Those that nothing can come of twice any more are forgotten. */
  #shareOf(streamPartId: StreamPartId, publisherId: NodeId, nowMs: number): PublisherShare | undefined {
    const shares = this.#parts.get(streamPartId) ?? new Map<NodeId, PublisherShare>()
    this.#parts.set(streamPartId, shares)
    const known = shares.get(publisherId)
    if (known !== undefined) return known
    const { maxUrgentPublishers } = this.#limits
    const oldestMs = nowMs - forgottenAfterMs(this.#limits)
    if (shares.size >= maxUrgentPublishers)
      for (const [other, { usedMs }] of shares) if (usedMs < oldestMs) shares.delete(other)
    if (shares.size >= maxUrgentPublishers) return undefined
    const share = new PublisherShare(this.#limits, nowMs)
    shares.set(publisherId, share)
    return share
  }

  /** Whoever forwards a batch has its delegation. */
  #askDelegation(batch: MessageBatch, from: NodeId): 'handled' {
    const { delegationRef: ref } = batch
    if (ref !== undefined) this.#modules.effects.sendControl(from, { type: 'askDelegation', ref })
    return this.#drop('data.delegationUnknown', batch)
  }

  #deny(part: StreamPart, batch: MessageBatch, from: NodeId, nowMs: number): 'handled' {
    this.#drop('data.publisherDenied', batch)
    const isNeighbour = part.isAttached(from)
    if (isNeighbour && this.#denied.note(from, batch.delegationRef ?? batch.chain.publisherId, nowMs))
      this.#modules.misbehaved(from, 'it forwards batches of publishers without permission', nowMs)
    return 'handled'
  }

  #hold(held: HeldUrgentBatch, nowMs: number): void {
    for (const { batch } of this.#held.hold(held, nowMs)) this.#drop('urgent.unresolved', batch)
    const { scope, publisherId, delegation } = held.author
    const key = authorKey(held.author)
    if (nowMs - (this.#asked.get(key) ?? -Infinity) < this.#limits.urgentAskMs) return
    this.#asked.set(key, nowMs)
    this.#modules.effects.resolvePublisher(scope, publisherId, held.from, delegation)
  }

  #drop(counter: CounterName, { chain }: MessageBatch): 'handled' {
    const { publisherId, streamId, partition } = chain
    drop(this.#modules, counter, `an urgent message of ${publisherId} in ${streamId}#${partition}`)
    return 'handled'
  }
}
