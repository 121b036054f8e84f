import {
  compareRefs,
  isTransient,
  limits as wireLimits,
  parseStreamPartId,
  type ChainHead,
  type Heads,
  type NodeId,
  type Time,
} from '@runnel/protocol'
import type { NetworkLimits } from '../../limits.ts'
import type { Counters } from '../counters.ts'
import type { ChainProgress } from '../dedup/chain-progress.ts'
import { headOf, type SeenHead } from '../dedup/seen-messages.ts'
import { drop } from '../drop.ts'
import type { OverlayEffects } from '../overlay-effects.ts'
import type { StreamPart } from '../stream-part/stream-part.ts'
import type { Fetches } from './fetches.ts'
import { fetchTimeoutMs, gapWaitMs } from './gap-times.ts'
import type { HeadClaim } from './head-claims.ts'

export interface HeadPursuerModules {
  readonly effects: Pick<OverlayEffects, 'sendControl' | 'dropped'>
  readonly counters: Counters
  readonly fetches: Fetches
  /** False in a light node: it announces to nobody what others published. */
  readonly relays: boolean
  rttOf(peerId: NodeId): number | undefined
}

/**
 * Repairs the end of a chain, where no later message shows that one is missing: neighbours tell each other their heads, and a
 * node that is behind fetches from one that is ahead. Not of chains that nobody keeps.
 */
export class HeadPursuer {
  readonly #limits: NetworkLimits
  readonly #modules: HeadPursuerModules

  constructor(limits: NetworkLimits, modules: HeadPursuerModules) {
    this.#limits = limits
    this.#modules = modules
  }

  tick(part: StreamPart, time: Time): void {
    const { nowMs } = time
    const { heads, claims } = part.gaps
    if (heads.dueMs <= nowMs) this.#tell(part, nowMs)
    if (claims.dueMs > nowMs) return
    for (const claim of [...claims]) if (claim.dueMs <= nowMs) this.#pursue(part, claim, time)
  }

  /** Takes a neighbour's heads. What is newer than here may be in flight. */
  onHeads(part: StreamPart, peerId: NodeId, { heads }: Heads, time: Time): void {
    if (!part.isAttached(peerId)) return
    const { partition } = parseStreamPartId(part.id)
    let dropped = 0
    for (const head of heads) {
      part.seen.shown(peerId, head, head)
      if (!part.gaps.fillGaps || isTransient({ partition, ...head })) continue
      // A guest has nothing of others to give.
      const edge = part.edges.get(peerId)
      if (edge?.isGuest === true && head.publisherId !== edge.userId) continue
      const isAhead = head.timestamp > time.wallMs + this.#limits.clockToleranceMs
      if (isAhead || !this.#isBehind(part, head, time)) continue
      const dueMs = time.nowMs + gapWaitMs(part.attached, this.#modules.rttOf, this.#limits)
      if (!part.gaps.claims.add(peerId, head, dueMs)) dropped++
    }
    if (dropped === 0) return
    this.#modules.counters['heads.dropped'] += dropped - 1
    drop(this.#modules, 'heads.dropped', `${dropped} of ${part.id} from ${peerId}`)
  }

  /** The neighbour has answered: all it announced, or it no longer keeps it. */
  fetched(part: StreamPart, claim: HeadClaim, complete: boolean, time: Time): void {
    claim.requestId = 0
    if (complete) this.#end(part, claim, time)
    else claim.dueMs = time.nowMs
  }

  #tell(part: StreamPart, nowMs: number): void {
    const { heads: schedule, headsInTurn } = part.gaps
    const whoIsTold = schedule.take(nowMs)
    if (whoIsTold === undefined) return
    const arrived: SeenHead[] = []
    for (const progress of part.seen) {
      const who = whoIsTold(progress.lastUsedMs)
      if (who === undefined || isTransient(progress.chain)) continue
      if (who === 'waiting') arrived.push(...headOf(progress))
      else headsInTurn.add(progress)
    }
    const lacked = headsInTurn
      .take(wireLimits.maxChainHeads, (progress) => this.#isLacked(part, progress, nowMs))
      .flatMap(headOf)
    if (headsInTurn.size > 0) schedule.goesOn(nowMs)
    for (const peerId of part.receivers) {
      const heads = [
        ...arrived.filter(({ progress }) => progress.holders.waits(peerId)),
        ...lacked.filter(({ progress }) => progress.holders.lacks(peerId)),
      ].map(({ head }) => head)
      for (let at = 0; at < heads.length; at += wireLimits.maxChainHeads) {
        const some = heads.slice(at, at + wireLimits.maxChainHeads)
        this.#modules.counters['heads.sent']++
        this.#modules.effects.sendControl(peerId, { type: 'heads', streamPartId: part.id, heads: some })
      }
    }
  }

  /** Whether its newest message may be lost on the way to a neighbour, and can be sent again. */
  #isLacked(part: StreamPart, { lastUsedMs, holders, isOwn }: ChainProgress, nowMs: number): boolean {
    const { headsIntervalMs, maxRecentAgeMs } = this.#limits
    const ageMs = nowMs - lastUsedMs
    if (ageMs < headsIntervalMs || ageMs > maxRecentAgeMs) return false
    return (this.#modules.relays || isOwn) && part.receivers.some((peerId) => holders.lacks(peerId))
  }

  #isBehind(part: StreamPart, head: ChainHead, time: Time): boolean {
    const newest = part.seen.find(head)?.newest
    if (newest !== undefined) return compareRefs(head, newest) > 0
    // Of a chain never seen, messages published before the join are not missing.
    return head.timestamp >= this.#beginMs(part, time)
  }

  #beginMs(part: StreamPart, time: Time): number {
    return Math.max(1, part.joinedWallMs(time) - this.#limits.replayMarginMs)
  }

  #pursue(part: StreamPart, claim: HeadClaim, time: Time): void {
    const { nowMs } = time
    const { peerId } = claim
    const { fetches, rttOf } = this.#modules
    if (claim.requestId !== 0) {
      fetches.timedOut(claim.requestId, nowMs)
      claim.requestId = 0
    }
    const isOver = claim.tries >= this.#limits.maxFillRounds || !part.isAttached(peerId)
    if (isOver || !this.#isBehind(part, claim.head, time)) {
      this.#end(part, claim, time)
      return
    }
    const timeoutMs = fetches.timeoutMs(peerId, fetchTimeoutMs(rttOf(peerId), this.#limits))
    // Do not fetch what another neighbour is sending, but wait for that no longer than it would take from this one.
    const rival = part.gaps.claims.rival(claim, nowMs - timeoutMs)
    claim.dueMs = rival === undefined ? nowMs + timeoutMs : Math.min(rival.dueMs, rival.sentMs + timeoutMs)
    if (rival !== undefined) return
    this.#fetch(part, claim, time)
  }

  #fetch(part: StreamPart, claim: HeadClaim, time: Time): void {
    const { publisherId, messageChainId, timestamp, sequenceNumber } = claim.head
    const chain = { publisherId, messageChainId }
    const begin = { timestamp: this.#beginMs(part, time) - 1, sequenceNumber: 0 }
    const after = part.seen.find(chain)?.newest ?? begin
    const { peerId, dueMs } = claim
    const fetch = { peerId, streamPartId: part.id, chain, claim, sentMs: time.nowMs, dueMs }
    const upTo = { timestamp, sequenceNumber }
    claim.requestId = this.#modules.fetches.send(fetch, [{ after, upTo }])
    if (claim.requestId === 0) return
    claim.tries++
    claim.sentMs = time.nowMs
  }

  #end(part: StreamPart, claim: HeadClaim, time: Time): void {
    if (this.#isBehind(part, claim.head, time)) this.#modules.counters['heads.unmet']++
    const { peerId, next } = claim
    const { claims } = part.gaps
    claims.delete(claim)
    if (next === undefined || !part.isAttached(peerId) || !this.#isBehind(part, next.head, time)) return
    claims.add(peerId, next.head, next.dueMs)
  }
}
