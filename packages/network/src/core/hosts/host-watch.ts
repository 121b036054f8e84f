import {
  compareRefs,
  isTransient,
  limits as wireLimits,
  placeBefore,
  placeOf,
  RareLru,
  type MessageBatch,
  type MessageRef,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'
import type { HostFigures, WithheldMessages } from '../../ports.ts'
import type { Counters } from '../counters.ts'
import type { Fetches } from '../gaps/fetches.ts'
import type { OverlayEffects } from '../overlay-effects.ts'
import { PartWatch, type Watched } from './part-watch.ts'

export interface HostWatchLimits {
  readonly hostWatchMs: number
  readonly maxWatchedBatches: number
  readonly hostAskMs: number
  readonly hostClockMs: number
  readonly hostWithholdsMs: number
  readonly hostSilentMs: number
  readonly hostSlowMs: number
  readonly maxHostFigures: number
  readonly maxRecentAgeMs: number
}

export interface HostWatchModules {
  readonly effects: Pick<OverlayEffects, 'withheld' | 'hostFails'>
  readonly counters: Counters
  /** How old a message is by this node's wall clock; negative where its publisher's is ahead. */
  ageMs(timestamp: number): number
  readonly fetches: Pick<Fetches, 'once'>
}

/** What is accepted, and where: as the flood knows it. */
export interface Accepted {
  readonly streamPartId: StreamPartId
  /** The attached hosts. */
  readonly hosts: readonly NodeId[]
  readonly batch: MessageBatch
  readonly from: NodeId | undefined
  /** The newest place of the chain now. */
  readonly newest: MessageRef
}

interface Figures {
  deliveredFirst: number
  delivered: number
  late: number
  withheld: number
  lagMs: number | undefined
  isSlow: boolean
}

/** Messages after which a host can be judged slow. */
const minLags = 16
/** How much a new lag counts. */
const lagShare = 1 / 16
/** A gap's messages are expected of every host when they are at most this much older than the newest. */
const gapShare = 1 / 3

/**
 * Notices what a host of a light node did not bring although another one, or the archive, did. Whatever is accepted is watched until
 * every host has brought it. A host that has brought something later is asked for it, twice; one that still does not bring it
 * withholds it. A host that brings nothing at all is silent instead: it may have lost its overlay. What is in doubt counts for the
 * host: a link that was lost in between, a message that it may no longer keep, or that was published before it was there.
 */
export class HostWatch {
  readonly #limits: HostWatchLimits
  readonly #modules: HostWatchModules
  readonly #parts = new Map<StreamPartId, PartWatch>()
  readonly #figures: RareLru<NodeId, Figures>
  #dueMs = Infinity

  constructor(limits: HostWatchLimits, modules: HostWatchModules) {
    this.#limits = limits
    this.#modules = modules
    this.#figures = new RareLru(limits.maxHostFigures)
  }

  /** When `tick` is due. */
  get dueMs(): number {
    return this.#dueMs
  }

  figuresOf(peerId: NodeId): HostFigures {
    const { deliveredFirst, delivered, late, withheld, lagMs } = this.#figuresOf(peerId)
    return { deliveredFirst, delivered, late, withheld, lagMs }
  }

  /** A batch of somebody else was accepted. */
  accepted({ streamPartId, hosts, batch, from, newest }: Accepted, nowMs: number): void {
    const part = this.#partOf(streamPartId)
    const count = batch.messages.length
    if (from !== undefined) {
      const figures = this.#figuresOf(from)
      figures.deliveredFirst += count
      this.#brought(part, from, { count, lagMs: 0, acceptedMs: nowMs })
    }
    part.behind(hosts, from, nowMs)
    const publishedMs = nowMs - this.#modules.ageMs(batch.messages[0]?.timestamp ?? 0)
    if (this.#isExpected(batch, newest))
      part.watch({ batch, hosts, from, publishedMs: publishedMs - this.#limits.hostClockMs, nowMs })
    while (part.size > this.#limits.maxWatchedBatches) {
      part.dropOldest()
      this.#modules.counters['hosts.unwatched']++
    }
    if (part.isBusy && this.#dueMs === Infinity) this.#dueMs = nowMs + this.#limits.hostWatchMs
  }

  /** A host brought a batch that was accepted before. */
  again(streamPartId: StreamPartId, batch: MessageBatch, from: NodeId, nowMs: number): void {
    const part = this.#partOf(streamPartId)
    const acceptedMs = part.brought(batch, from)
    if (acceptedMs === undefined) return part.heard(from, nowMs)
    this.#brought(part, from, { count: batch.messages.length, lagMs: nowMs - acceptedMs, acceptedMs })
  }

  /** A host answered a fetch that was sent then: what it has of that came before, and it has heard all that was sent before. */
  answered(streamPartId: StreamPartId, peerId: NodeId, sentMs: number): void {
    this.#parts.get(streamPartId)?.answered(peerId, sentMs)
  }

  /** The host is attached no longer: nothing is said of what was on its way. */
  gone(streamPartId: StreamPartId, peerId: NodeId): void {
    this.#parts.get(streamPartId)?.gone(peerId)
  }

  left(streamPartId: StreamPartId): void {
    this.#parts.delete(streamPartId)
  }

  tick(nowMs: number): void {
    if (this.#dueMs > nowMs) return
    let isBusy = false
    for (const [streamPartId, part] of this.#parts) {
      this.#look(streamPartId, part, nowMs)
      isBusy ||= part.isBusy
    }
    this.#dueMs = isBusy ? nowMs + this.#limits.hostWatchMs : Infinity
  }

  #look(streamPartId: StreamPartId, part: PartWatch, nowMs: number): void {
    const { hostAskMs, hostWithholdsMs, hostSilentMs } = this.#limits
    part.contradict(nowMs)
    for (const peerId of part.silentFor(hostSilentMs, nowMs)) {
      this.#modules.counters['hosts.silent']++
      this.#modules.effects.hostFails(peerId, 'silent')
    }
    const overdueAfter = { afterMs: hostWithholdsMs, answerMs: hostAskMs }
    for (const [peerId, overdue] of part.overdue(overdueAfter, nowMs))
      for (const watched of byChain(overdue)) this.#withheld(streamPartId, peerId, watched)
    for (const [peerId, due] of part.toAsk(hostAskMs, nowMs))
      for (const watched of byChain(due)) this.#ask(part, peerId, watched, nowMs)
    part.forget(nowMs - 2 * this.#limits.hostSilentMs)
  }

  /** What does not fit into a question now is asked for later. */
  #ask(part: PartWatch, peerId: NodeId, watched: readonly Watched[], nowMs: number): void {
    const some = watched.slice(0, wireLimits.maxFetchRanges)
    const { chain } = some[0] as Watched
    if (this.#modules.fetches.once(peerId, chain, rangesOf(some), nowMs)) part.asked(peerId, some, nowMs)
  }

  #withheld(streamPartId: StreamPartId, hostId: NodeId, watched: readonly Watched[]): void {
    const { chain } = watched[0] as Watched
    const messages = watched.reduce((sum, { count }) => sum + count, 0)
    const deliveredBy = [...new Set(watched.flatMap(({ broughtBy }) => [...broughtBy]))]
    this.#figuresOf(hostId).withheld += messages
    this.#modules.counters['hosts.withheld'] += messages
    this.#modules.effects.withheld({
      streamPartId,
      hostId,
      chain,
      ranges: rangesOf(watched),
      messages,
      deliveredBy,
    })
  }

  #brought(
    part: PartWatch,
    peerId: NodeId,
    {
      count,
      lagMs,
      acceptedMs,
    }: { readonly count: number; readonly lagMs: number; readonly acceptedMs: number },
  ): void {
    const figures = this.#figuresOf(peerId)
    const before = figures.lagMs
    figures.delivered += count
    if (lagMs >= this.#limits.hostAskMs) figures.late += count
    figures.lagMs = before === undefined ? lagMs : before + (lagMs - before) * lagShare
    part.heard(peerId, acceptedMs + lagMs, acceptedMs)
    const isSlow = figures.lagMs > this.#limits.hostSlowMs && figures.delivered >= minLags
    if (isSlow && !figures.isSlow) this.#modules.effects.hostFails(peerId, 'slow')
    figures.isSlow = isSlow
  }

  /**
   * Whether every host must still have it: the publisher published it not long before its newest message. One whose clock is ahead could
   * seem to publish now what is old.
   */
  #isExpected({ chain, messages }: MessageBatch, newest: MessageRef): boolean {
    const last = messages.at(-1)
    if (last === undefined || isTransient(chain)) return false
    if (this.#modules.ageMs(last.timestamp) < -this.#limits.hostClockMs) return false
    return last.timestamp >= newest.timestamp - this.#limits.maxRecentAgeMs * gapShare
  }

  #partOf(streamPartId: StreamPartId): PartWatch {
    let part = this.#parts.get(streamPartId)
    if (part === undefined) this.#parts.set(streamPartId, (part = new PartWatch()))
    return part
  }

  #figuresOf(peerId: NodeId): Figures {
    const known = this.#figures.get(peerId)
    if (known !== undefined) return known
    const figures: Figures = {
      deliveredFirst: 0,
      delivered: 0,
      late: 0,
      withheld: 0,
      lagMs: undefined,
      isSlow: false,
    }
    this.#figures.set(peerId, figures)
    return figures
  }
}

function byChain(watched: readonly Watched[]): readonly (readonly Watched[])[] {
  return [...Map.groupBy(watched, ({ chain }) => `${chain.publisherId} ${chain.messageChainId}`).values()]
}

/** What lies in between two batches that follow each other is not named. */
function rangesOf(watched: readonly Watched[]): WithheldMessages['ranges'] {
  const ranges: { after: MessageRef; upTo: MessageRef }[] = []
  for (const { first, last } of watched.toSorted((a, b) => compareRefs(a.first, b.first))) {
    const before = ranges.at(-1)
    const after = placeBefore(first)
    if (before === undefined || compareRefs(before.upTo, after) <= 0) ranges.push({ after, upTo: last })
    else if (compareRefs(before.upTo, last) < 0) before.upTo = placeOf(last)
  }
  return ranges
}
