import { compareRefs, limits as wireLimits, type MessageChain, type NodeId } from '@runnel/protocol'
import type { NetworkLimits } from '../../limits.ts'
import type { Counters } from '../counters.ts'
import type { ChainProgress, Fill, OpenRange } from '../dedup/chain-progress.ts'
import type { NodeEffects } from '../effects.ts'
import type { StreamPart } from '../stream-part/stream-part.ts'
import type { Fetches, SentFetch } from './fetches.ts'
import { fetchTimeoutMs, gapWaitMs } from './gap-times.ts'

export interface GapFillerModules {
  readonly effects: Pick<NodeEffects, 'sendControl' | 'fillFromArchive' | 'gapLost'>
  readonly counters: Counters
  readonly fetches: Fetches
  /** Whether there is an archive to ask. */
  readonly hasArchive: boolean
  rttOf(peerId: NodeId): number | undefined
}

/** Steps of several ranges of one chain, to be taken together. */
interface Steps {
  readonly fetch: Map<NodeId, OpenRange[]>
  readonly archive: OpenRange[]
  readonly lost: Set<Fill>
}

type Gap = Parameters<NodeEffects['gapLost']>[0]

/**
 * Looks for what is missing, in this order: another path may bring it; then neighbours are asked, one after the other and
 * in rounds with growing pauses; then the archive. What nobody has is given up, and the application is told.
 */
export class GapFiller {
  readonly #limits: NetworkLimits
  readonly #modules: GapFillerModules

  constructor(limits: NetworkLimits, modules: GapFillerModules) {
    this.#limits = limits
    this.#modules = modules
  }

  /** Takes the steps that are due. */
  tick(part: StreamPart, nowMs: number): void {
    const { gaps } = part
    if (gaps.rangesDueMs > nowMs) return
    gaps.rangesDueMs = Infinity
    const peers = this.#neighboursByRtt(part)
    for (const progress of gaps.chains) {
      const dueMs = this.#work(part, progress, peers, nowMs)
      if (dueMs === undefined) gaps.chains.delete(progress)
      else gaps.rangesDueMs = Math.min(gaps.rangesDueMs, dueMs)
    }
  }

  /** A neighbour sent what it has of some ranges. */
  fetched(part: StreamPart, fetch: SentFetch, complete: boolean, nowMs: number): void {
    const { requestId, peerId, chain, rangeCount } = fetch
    const missing = part.seen.find(chain)?.missing ?? []
    const left = missing.flatMap(({ fill }) => (fill?.requestId === requestId ? [fill] : []))
    // A neighbour that always says that there is more, and sends nothing, is not asked for ever.
    const isFed = left.length < rangeCount || left.some((fill) => fill.isFed)
    for (const fill of left) {
      if (complete) {
        fill.denials ??= new Map()
        fill.denials.set(peerId, (fill.denials.get(peerId) ?? 0) + 1)
      }
      if (complete || !isFed) this.#tried(part, fill, nowMs)
      else Object.assign(fill, { requestId: 0, dueMs: nowMs })
    }
    part.gaps.rangesDueMs = nowMs
  }

  /** The archive sent what it has of a gap. */
  archiveEnded(part: StreamPart, { chain, after, upTo }: Gap, nowMs: number): void {
    for (const range of part.seen.find(chain)?.missing ?? []) {
      const { fill } = range
      if (fill?.archive !== 'asked') continue
      if (compareRefs(range.after, after) < 0 || compareRefs(range.upTo, upTo) > 0) continue
      fill.archive = 'empty'
      if (fill.requestId === 0) fill.dueMs = nowMs
    }
    part.gaps.rangesDueMs = nowMs
  }

  /** One step for every range that is due. Returns when the next is; undefined when nothing is looked for any more. */
  #work(
    part: StreamPart,
    progress: ChainProgress,
    peers: readonly NodeId[],
    nowMs: number,
  ): number | undefined {
    const steps: Steps = { fetch: new Map(), archive: [], lost: new Set() }
    const inWork = this.#inWork(progress)
    for (const range of inWork) if (range.fill.dueMs <= nowMs) this.#step(part, range, peers, steps, nowMs)
    for (const [peerId, ranges] of steps.fetch) this.#fetch(part, peerId, progress.chain, ranges, nowMs)
    this.#askArchive(part, progress.chain, steps.archive)
    const lost = progress.giveUp((fill) => steps.lost.has(fill))
    for (const range of lost) this.#lose(part, progress.chain, range)
    // Those that had to wait for the ones given up come next.
    if (lost.length > 0) return this.#inWork(progress).length > 0 ? nowMs : undefined
    if (inWork.length === 0) return undefined
    return inWork.reduce((dueMs, { fill }) => Math.min(dueMs, fill.dueMs), Infinity)
  }

  /** The ranges that are looked for now, the oldest first: delivery in order waits for them. */
  #inWork(progress: ChainProgress): (OpenRange & { readonly fill: Fill })[] {
    const ranges: (OpenRange & { readonly fill: Fill })[] = []
    for (const range of progress.missing) {
      if (ranges.length >= this.#limits.maxRangesInWork) break
      if (range.fill !== undefined) ranges.push(range as OpenRange & { readonly fill: Fill })
    }
    return ranges
  }

  #step(
    part: StreamPart,
    range: OpenRange & { readonly fill: Fill },
    peers: readonly NodeId[],
    steps: Steps,
    nowMs: number,
  ): void {
    const { fill } = range
    if (fill.requestId !== 0) {
      if (this.#modules.fetches.take(fill.requestId)) this.#modules.counters['fetch.timeouts']++
      this.#tried(part, fill, nowMs)
      if (fill.dueMs > nowMs) return
    }
    const rounds = peers.length === 0 ? Infinity : Math.floor(fill.tries / peers.length)
    const ageMs = nowMs - fill.openedMs
    const isTooOld = ageMs >= this.#limits.maxFillAgeMs
    if (fill.archive === 'asked' && ageMs >= this.#limits.maxArchiveAgeMs) fill.archive = 'empty'
    const isDenied = ageMs >= this.#limits.minFillAgeMs && this.#isDeniedByAll(fill, peers)
    if (!part.gaps.fillGaps) steps.lost.add(fill)
    else if (this.#isArchiveNext(fill, rounds)) steps.archive.push(range)
    else if (fill.archive !== 'asked' && (isDenied || isTooOld)) steps.lost.add(fill)
    const peerId = peers[fill.tries % peers.length]
    if (peerId === undefined || isDenied) {
      fill.dueMs = nowMs + this.#limits.maxFillPauseMs
    } else if (!steps.lost.has(fill)) steps.fetch.set(peerId, [...(steps.fetch.get(peerId) ?? []), range])
  }

  #isArchiveNext(fill: Fill, rounds: number): boolean {
    return this.#modules.hasArchive && fill.archive === 'unasked' && rounds >= this.#limits.archiveAfterRounds
  }

  /** One that is silent may be dead, and soon another will be in its place: then time decides, as without a neighbour. */
  #isDeniedByAll({ denials }: Fill, peers: readonly NodeId[]): boolean {
    if (denials === undefined || peers.length === 0) return false
    return peers.every((peerId) => (denials.get(peerId) ?? 0) >= this.#limits.maxFillRounds)
  }

  /** A neighbour did not have it, or did not answer: the next one, or after all of them a pause. */
  #tried(part: StreamPart, fill: Fill, nowMs: number): void {
    const { maxFillPauseMs } = this.#limits
    const neighbours = Math.max(1, part.attached.length)
    fill.requestId = 0
    fill.tries++
    fill.dueMs = nowMs
    if (fill.tries % neighbours !== 0) return
    const rounds = fill.tries / neighbours
    const waitMs = gapWaitMs(part.attached, this.#modules.rttOf, this.#limits)
    fill.dueMs = nowMs + Math.min(maxFillPauseMs, waitMs * 2 ** (rounds - 1))
  }

  #fetch(
    part: StreamPart,
    peerId: NodeId,
    chain: MessageChain,
    ranges: readonly OpenRange[],
    nowMs: number,
  ): void {
    const { fetches, effects, counters } = this.#modules
    const { maxFetchRanges } = wireLimits
    const dueMs = nowMs + fetchTimeoutMs(this.#modules.rttOf(peerId), this.#limits)
    for (let from = 0; from < ranges.length; from += maxFetchRanges) {
      const some = ranges.slice(from, from + maxFetchRanges)
      // When too much is under way, the rest is asked for a while later.
      const canAsk = fetches.canAsk(peerId, nowMs)
      const { publisherId, messageChainId } = chain
      const requestId = canAsk
        ? fetches.add({
            peerId,
            streamPartId: part.id,
            chain: { publisherId, messageChainId },
            claim: undefined,
            rangeCount: some.length,
            dueMs,
          })
        : 0
      for (const { fill } of some) if (fill) Object.assign(fill, { requestId, dueMs, isFed: false })
      if (!canAsk) continue
      counters['fetch.sent']++
      effects.sendControl(peerId, {
        type: 'fetch',
        requestId,
        streamPartId: part.id,
        publisherId,
        messageChainId,
        ranges: some.map(({ after, upTo }) => ({ after, upTo })),
      })
    }
  }

  /** As one gap: what lies between the ranges is known already, and costs little beside a request for each. */
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

  #lose(part: StreamPart, chain: MessageChain, { after, upTo }: Pick<OpenRange, 'after' | 'upTo'>): void {
    this.#modules.counters['gap.lost']++
    this.#modules.effects.gapLost({ streamPartId: part.id, chain, after, upTo })
  }

  #neighboursByRtt(part: StreamPart): readonly NodeId[] {
    const rtt = (peerId: NodeId) => this.#modules.rttOf(peerId) ?? Infinity
    return part.attached.toSorted((a, b) => (rtt(a) === rtt(b) ? 0 : rtt(a) - rtt(b)))
  }
}
