import type { AccessToken, NodeId, StreamPartId, Time } from '@runnel/protocol'
import type { NetworkLimits } from '../../limits.ts'
import type { Counters } from '../counters.ts'
import type { OverlayEvent } from '../events.ts'
import type { Fetches } from '../gaps/fetches.ts'
import type { HostWatch } from '../hosts/host-watch.ts'
import { SharedBytes } from '../shared-bytes.ts'
import type { Neighbourhood } from '../neighbours/neighbourhood.ts'
import type { OverlayEffects } from '../overlay-effects.ts'
import type { Thinning } from '../thin/thinning.ts'
import type { UrgentFlood } from '../urgent/urgent-flood.ts'
import type { UrgentThinning } from '../urgent/urgent-thinning.ts'
import type { PartFaults } from './part-faults.ts'
import type { StreamPartMap } from './stream-part-map.ts'
import { StreamPart } from './stream-part.ts'

export interface PartLivesModules {
  readonly effects: Pick<OverlayEffects, 'statusDue' | 'gapLost' | 'neighbours' | 'partFailed'>
  readonly counters: Counters
  readonly parts: StreamPartMap
  readonly neighbourhood: Neighbourhood
  readonly fetches: Fetches
  readonly thinning: Thinning
  readonly urgent: UrgentFlood
  readonly urgentThinning: UrgentThinning
  readonly watch: HostWatch | undefined
  readonly isLight: boolean
  /** Of the event that is handled. */
  readonly time: Pick<Time, 'nowMs'>
  rttOf(peerId: NodeId): number | undefined
  membershipToken(): AccessToken | undefined
}

type Join = Extract<OverlayEvent, { type: 'join' }>
type PartOptions = Pick<Join, 'fillGaps' | 'reads' | 'keepsLatest' | 'lookBackMs'>

/** How stream parts begin and end: they are joined, left, and begun anew after a fault. */
export class PartLives {
  readonly #limits: NetworkLimits
  readonly #modules: PartLivesModules
  readonly #recentBytes: SharedBytes
  readonly #latestBytes: SharedBytes
  #hosts: readonly NodeId[] = []

  constructor(limits: NetworkLimits, modules: PartLivesModules) {
    this.#limits = limits
    this.#modules = modules
    this.#recentBytes = new SharedBytes(limits.maxRecentBytesTotal)
    this.#latestBytes = new SharedBytes(limits.maxLatestBytesTotal)
  }

  join(options: Join, nowMs: number): void {
    const { parts, neighbourhood, effects, isLight } = this.#modules
    const { streamPartId: id, fillGaps, reads, keepsLatest = false } = options
    const known = parts.get(id)
    if (known !== undefined) {
      known.gaps.fillGaps = fillGaps && reads
      known.latest.keeps = keepsLatest
      if (known.reads === reads) return
      // What others published meanwhile it did not hear of: what it has may not be the newest.
      if (reads) known.latest.clear()
      known.setReads(reads, nowMs)
      parts.within(known, () => neighbourhood.readingChanged(known, nowMs))
      return
    }
    this.#add(id, options, nowMs)
    parts.withPart(id, (part) => {
      effects.statusDue(id)
      if (isLight) neighbourhood.useHosts(part, this.#hosts, nowMs)
    })
  }

  leave(id: StreamPartId, nowMs: number): void {
    const { parts, neighbourhood, fetches, watch, thinning, urgent, urgentThinning } = this.#modules
    // After a fault there is a new one with this id.
    parts.withPart(id, (part) => neighbourhood.leave(part, nowMs))
    parts.get(id)?.recent.clear()
    parts.get(id)?.latest.clear()
    fetches.drop(id)
    watch?.left(id)
    thinning.left(id, nowMs)
    urgent.left(id)
    urgentThinning.left(id, nowMs)
    parts.delete(id)
  }

  /** The hosts of a light node are these from now on, in all stream parts. */
  useHosts(hosts: readonly NodeId[], nowMs: number): void {
    const { parts, neighbourhood } = this.#modules
    this.#hosts = hosts
    parts.each((part) => neighbourhood.useHosts(part, hosts, nowMs))
  }

  /**
   * Begins a stream part anew. Everything it shares with others is released, and none of its state is reused except how far its
   * message chains were received, so that nothing is delivered twice, and what it misses meanwhile is looked for like any gap.
   * When faults repeat, that state may be the cause: then nothing is kept.
   */
  failed(part: StreamPart, error: unknown): void {
    const { counters, effects, parts, neighbourhood, fetches, thinning, urgentThinning } = this.#modules
    const { nowMs } = this.#modules.time
    const { id, gaps, faults, latest, reads } = part
    counters['fault.streamPart']++
    parts.delete(id)
    const isFirst = faults.add(nowMs) === 1
    const fresh = this.#add(id, { fillGaps: gaps.fillGaps, reads, keepsLatest: latest.keeps }, nowMs, faults)
    fresh.delivered = part.delivered
    fresh.duplicates = part.duplicates
    fresh.published = part.published
    fetches.drop(id)
    attempt(() => thinning.left(id, nowMs))
    attempt(() => urgentThinning.left(id, nowMs))
    attempt(() => part.recent.clear())
    attempt(() => latest.clear())
    attempt(() => neighbourhood.abandon(part, nowMs))
    if (isFirst) attempt(() => fresh.seen.resume(part.seen, nowMs))
    attempt(() => this.#loseGaps(part))
    attempt(() => part.attached.length > 0 && effects.neighbours(id, []))
    attempt(() => effects.partFailed(id, error))
  }

  /** A fault outside of this core; the stream part may be one that is not joined. */
  failedOutside(id: StreamPartId, error: unknown): void {
    const { parts, counters, effects } = this.#modules
    const part = parts.get(id)
    if (part !== undefined) return this.failed(part, error)
    counters['fault.streamPart']++
    effects.partFailed(id, error)
  }

  #add(
    id: StreamPartId,
    { fillGaps, reads, keepsLatest = false, lookBackMs = 0 }: PartOptions,
    nowMs: number,
    faults?: PartFaults,
  ): StreamPart {
    const { counters, effects, parts, thinning, urgentThinning, watch, isLight, time } = this.#modules
    const part = new StreamPart(
      { id, joinedMs: nowMs - lookBackMs, limits: this.#limits, isLight, ...(faults && { faults }) },
      {
        counters,
        recentBytes: this.#recentBytes,
        latestBytes: this.#latestBytes,
        rttOf: (peerId) => this.#modules.rttOf(peerId),
        lateMs: (progress) => thinning.lateMs(progress),
        membershipToken: () => this.#modules.membershipToken(),
        gone: (peerId) => {
          watch?.gone(id, peerId)
          thinning.gone(id, peerId, time.nowMs)
          urgentThinning.gone(id, peerId, time.nowMs)
        },
        onGapLost: (chain, { after, upTo }) => {
          counters['gap.lost']++
          effects.gapLost({ streamPartId: id, chain, after, upTo })
        },
      },
    )
    part.setReads(reads, nowMs)
    part.gaps.fillGaps = fillGaps && reads
    part.latest.keeps = keepsLatest
    if (isLight) part.useHosts(this.#hosts)
    parts.add(part)
    return part
  }

  /** Stops looking for what was missing at a fault. */
  #loseGaps(part: StreamPart): void {
    for (const { progress } of part.seen.heads())
      for (const range of progress.wanted) attempt(() => part.gaps.unreachable(progress, range))
  }
}

/** After a fault, as much is done as can be. */
function attempt(work: () => unknown): void {
  try {
    work()
  } catch {
    // It follows from the fault that is reported.
  }
}
