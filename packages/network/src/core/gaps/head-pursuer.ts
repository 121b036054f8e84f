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
    const whoIsTold = part.gaps.heads.take(nowMs)
    if (whoIsTold === undefined) return
    const due = part.seen
      .heads(({ lastUsedMs, chain }) => whoIsTold(lastUsedMs) !== undefined && !isTransient(chain))
      .map(({ head, progress: { holders, lastUsedMs, isOwn } }) => ({
        ...{ head, holders, isTold: this.#modules.relays || isOwn },
        who: whoIsTold(lastUsedMs),
      }))
    for (const peerId of part.receivers) {
      const heads = due
        .filter(({ holders, who, isTold }) =>
          who === 'waiting' ? holders.waits(peerId) : isTold && holders.lacks(peerId),
        )
        .map(({ head }) => head)
      // All of them: what is left out has no turn later, as the newest come first again.
      for (let at = 0; at < heads.length; at += wireLimits.maxChainHeads) {
        const some = heads.slice(at, at + wireLimits.maxChainHeads)
        this.#modules.counters['heads.sent']++
        this.#modules.effects.sendControl(peerId, { type: 'heads', streamPartId: part.id, heads: some })
      }
    }
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
    const { fetches, counters } = this.#modules
    if (claim.requestId !== 0) {
      if (fetches.take(claim.requestId)) counters['fetch.timeouts']++
      claim.requestId = 0
    }
    const isOver = claim.tries >= this.#limits.maxFillRounds || !part.isAttached(peerId)
    if (isOver || !this.#isBehind(part, claim.head, time)) {
      this.#end(part, claim, time)
      return
    }
    const timeoutMs = fetchTimeoutMs(this.#modules.rttOf(peerId), this.#limits)
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
