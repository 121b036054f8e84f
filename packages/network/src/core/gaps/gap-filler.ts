import { compareRefs, limits as wireLimits, type MessageChain, type NodeId } from '@runnel/protocol'
import type { NetworkLimits } from '../../limits.ts'
import type { Counters } from '../counters.ts'
import type { ChainProgress, Fill, OpenRange } from '../dedup/chain-progress.ts'
import type { OverlayEffects } from '../overlay-effects.ts'
import type { StreamPart } from '../stream-part/stream-part.ts'
import type { Fetches, SentFetch } from './fetches.ts'
import { fetchTimeoutMs, gapWaitMs } from './gap-times.ts'

export interface GapFillerModules {
  readonly effects: Pick<OverlayEffects, 'fillFromArchive'>
  readonly counters: Counters
  readonly fetches: Fetches
  /** Whether there is an archive to ask. */
  readonly hasArchive: boolean
  rttOf(peerId: NodeId): number | undefined
}

/** A range that is looked for. */
type WantedRange = OpenRange & { readonly fill: Fill }

/** Steps for several ranges of one chain, to be taken together. */
interface Steps {
  readonly fetch: Map<NodeId, OpenRange[]>
  readonly archive: OpenRange[]
  readonly lost: OpenRange[]
}

/** With fewer messages than these an answer brought little. */
const littleFed = 16

type Gap = Parameters<OverlayEffects['fillFromArchive']>[0]

/**
 * Looks for what is missing, in this order: wait for another path; ask the neighbours, one after the other, in rounds with
 * growing pauses; ask the archive. A range that nobody has is given up and reported to the application.
 */
export class GapFiller {
  readonly #limits: NetworkLimits
  readonly #modules: GapFillerModules

  constructor(limits: NetworkLimits, modules: GapFillerModules) {
    this.#limits = limits
    this.#modules = modules
  }

  /** Takes due steps, of all chains in turn; those that exceed this tick's budget are due again at once. */
  tick(part: StreamPart, nowMs: number): void {
    const { gaps } = part
    gaps.forgetLate(nowMs)
    if (gaps.rangesDueMs > nowMs) return
    gaps.rangesDueMs = Infinity
    const peers = this.#neighboursByRtt(part)
    let left: number = this.#limits.maxRangesPerTick
    for (const [progress, dueMs] of [...gaps.chains]) {
      if (dueMs > nowMs || left <= 0) {
        gaps.rangesDueMs = Math.min(gaps.rangesDueMs, dueMs)
        continue
      }
      // Moved to the end: the others come first in the next tick.
      gaps.chains.delete(progress)
      left -= this.#work(part, progress, peers, nowMs)
    }
  }

  /** A neighbour sent what it has of some ranges. */
  fetched(part: StreamPart, fetch: SentFetch, complete: boolean, nowMs: number): void {
    const { requestId, peerId, chain, rangeCount } = fetch
    const progress = part.seen.find(chain)
    if (progress === undefined) return
    const left = this.#inWork(progress).flatMap(({ fill }) => (fill.requestId === requestId ? [fill] : []))
    const peers = part.attached.length + part.guestsOf(chain.publisherId).length
    const fed = left.reduce((sum, fill) => sum + fill.fed, Math.max(0, rangeCount - left.length))
    for (const fill of left) {
      if (complete) {
        fill.denials ??= new Map()
        fill.denials.set(peerId, (fill.denials.get(peerId) ?? 0) + 1)
      }
      if (complete || fed === 0) this.#tried(part, fill, peers, nowMs)
      else this.#fedOn(fill, peers, fed < littleFed, nowMs)
    }
    part.gaps.due(progress, nowMs)
  }

  /** The archive sent what it has of a gap. */
  archiveEnded(part: StreamPart, { chain, after, upTo }: Gap, nowMs: number): void {
    const progress = part.seen.find(chain)
    if (progress === undefined) return
    for (const range of progress.wanted) {
      const { fill } = range
      if (fill?.archive !== 'asked') continue
      if (compareRefs(range.after, after) < 0 || compareRefs(range.upTo, upTo) > 0) continue
      fill.archive = 'empty'
      if (fill.requestId === 0) fill.dueMs = nowMs
    }
    part.gaps.due(progress, nowMs)
  }

  /** Takes one step for every due range of a chain. Returns how many ranges it looked at. */
  #work(part: StreamPart, progress: ChainProgress, neighbours: readonly NodeId[], nowMs: number): number {
    const peers = [...neighbours, ...part.guestsOf(progress.chain.publisherId)]
    const steps: Steps = { fetch: new Map(), archive: [], lost: [] }
    const inWork = this.#inWork(progress)
    for (const range of inWork) if (range.fill.dueMs <= nowMs) this.#step(part, range, peers, steps, nowMs)
    for (const [peerId, ranges] of steps.fetch)
      this.#fetch(part, peerId, progress.chain, ranges, peers, nowMs)
    this.#askArchive(part, progress.chain, steps.archive)
    const { lost } = steps
    for (const range of lost) part.gaps.giveUp(range, nowMs)
    // The ranges that waited for those just given up come next.
    if (lost.length > 0 && progress.wanted.length > 0) part.gaps.due(progress, nowMs)
    else if (lost.length === 0 && inWork.length > 0)
      part.gaps.due(
        progress,
        inWork.reduce((dueMs, { fill }) => Math.min(dueMs, fill.dueMs), Infinity),
      )
    return inWork.length
  }

  /** The ranges looked for now, oldest first, because ordered delivery waits for them. */
  #inWork({ wanted }: ChainProgress): readonly WantedRange[] {
    return wanted.slice(0, this.#limits.maxRangesInWork) as WantedRange[]
  }

  #step(part: StreamPart, range: WantedRange, peers: readonly NodeId[], steps: Steps, nowMs: number): void {
    const { fill } = range
    if (fill.requestId !== 0) {
      this.#modules.fetches.timedOut(fill.requestId, nowMs)
      this.#tried(part, fill, peers.length, nowMs)
      if (fill.dueMs > nowMs) return
    }
    const rounds = peers.length === 0 ? Infinity : Math.floor(fill.tries / peers.length)
    const ageMs = nowMs - fill.openedMs
    const isTooOld = ageMs >= this.#limits.maxFillAgeMs
    if (fill.archive === 'asked' && ageMs >= this.#limits.maxArchiveAgeMs) fill.archive = 'empty'
    const isDenied = ageMs >= this.#minAgeMs(range) && this.#isDeniedByAll(fill, peers)
    const isOver = isDenied || isTooOld
    const hasTime = part.gaps.fillGaps && ageMs < this.#limits.maxArchiveAgeMs
    const isArchiveNext = hasTime && this.#isArchiveNext(fill, isOver ? Infinity : rounds)
    if (isArchiveNext) steps.archive.push(range)
    else if (!part.gaps.fillGaps || (fill.archive !== 'asked' && isOver)) {
      steps.lost.push(range)
      return
    }
    const peerId = peers[fill.turn % peers.length]
    if (peerId === undefined || isDenied) {
      fill.dueMs = nowMs + this.#limits.maxFillPauseMs
      return
    }
    const ofPeer = steps.fetch.get(peerId)
    if (ofPeer === undefined) steps.fetch.set(peerId, [range])
    else ofPeer.push(range)
  }

  #isArchiveNext(fill: Fill, rounds: number): boolean {
    return this.#modules.hasArchive && fill.archive === 'unasked' && rounds >= this.#limits.archiveAfterRounds
  }

  /** Ages are compared by the publisher's clock alone, so that clocks need not agree. */
  #minAgeMs({ progress, upTo }: OpenRange): number {
    const { maxRecentAgeMs, minFillAgeMs, minOldFillAgeMs } = this.#limits
    const newestMs = progress.newest?.timestamp ?? upTo.timestamp
    return newestMs - upTo.timestamp > maxRecentAgeMs ? minOldFillAgeMs : minFillAgeMs
  }

  /** A silent neighbour may be dead and soon replaced, so then time decides, as without a neighbour. */
  #isDeniedByAll({ denials }: Fill, peers: readonly NodeId[]): boolean {
    if (denials === undefined || peers.length === 0) return false
    return peers.every((peerId) => (denials.get(peerId) ?? 0) >= this.#limits.maxFillRounds)
  }

  /** A neighbour did not have it, or did not answer: ask the next one, or pause after all of them. */
  #tried(part: StreamPart, fill: Fill, peers: number, nowMs: number): void {
    const { maxFillPauseMs } = this.#limits
    const ofRound = Math.max(1, peers)
    fill.requestId = 0
    fill.tries++
    fill.turn++
    fill.dueMs = nowMs
    if (fill.tries % ofRound !== 0) return
    const rounds = fill.tries / ofRound
    const waitMs = gapWaitMs(part.attached, this.#modules.rttOf, this.#limits)
    fill.dueMs = nowMs + Math.min(maxFillPauseMs, waitMs * 2 ** (rounds - 1))
  }

  /**
   * A neighbour sent some of it, and says it has more. After a little the next one is asked all the same, because who sends little at a time
   * would keep it for itself. The round begins anew, so that it has no pause while there is something to fetch.
   */
  #fedOn(fill: Fill, peers: number, isLittle: boolean, nowMs: number): void {
    fill.requestId = 0
    fill.tries -= fill.tries % Math.max(1, peers)
    if (isLittle) fill.turn++
    fill.dueMs = nowMs
  }

  /**
   * Too much is under way to this neighbour, perhaps only because it does not answer: the next one is asked, and all of them a little later,
   * by the nearest. That they are busy is no reason to ask the archive.
   */
  #noRoom(fill: Fill, peers: readonly NodeId[], nowMs: number): void {
    const [nearest] = peers
    fill.turn++
    fill.dueMs = nowMs
    if (nearest === undefined || fill.turn % peers.length !== 0) return
    fill.dueMs += this.#timeoutMs(nearest)
  }

  #timeoutMs(peerId: NodeId): number {
    const { fetches, rttOf } = this.#modules
    return fetches.timeoutMs(peerId, fetchTimeoutMs(rttOf(peerId), this.#limits))
  }

  #fetch(
    part: StreamPart,
    peerId: NodeId,
    chain: MessageChain,
    ranges: readonly OpenRange[],
    peers: readonly NodeId[],
    nowMs: number,
  ): void {
    const { maxFetchRanges } = wireLimits
    const dueMs = nowMs + this.#timeoutMs(peerId)
    for (let from = 0; from < ranges.length; from += maxFetchRanges) {
      const some = ranges.slice(from, from + maxFetchRanges)
      const requestId = this.#modules.fetches.send(
        { peerId, streamPartId: part.id, chain, claim: undefined, sentMs: nowMs, dueMs },
        some.map(({ after, upTo }) => ({ after, upTo })),
      )
      for (const { fill } of some) {
        if (fill === undefined) continue
        Object.assign(fill, { requestId, dueMs, fed: 0 })
        if (requestId === 0) this.#noRoom(fill, peers, nowMs)
        else fill.wasAsked = true
      }
    }
  }

  /** Requests the ranges as one gap: what lies between them is known already, and costs less than a request for each. */
  #askArchive(part: StreamPart, chain: MessageChain, ranges: readonly OpenRange[]): void {
    const [first, last] = [ranges[0], ranges.at(-1)]
    if (first === undefined || last === undefined) return
    for (const { fill } of ranges) if (fill) fill.archive = 'asked'
    this.#modules.counters['gap.archiveAsked']++
    this.#modules.effects.fillFromArchive({
      streamPartId: part.id,
      chain,
      after: first.after,
      upTo: last.upTo,
    })
  }

  #neighboursByRtt(part: StreamPart): readonly NodeId[] {
    const rtt = (peerId: NodeId) => this.#modules.rttOf(peerId) ?? Infinity
    return part.attached.toSorted((a, b) => (rtt(a) === rtt(b) ? 0 : rtt(a) - rtt(b)))
  }
}
