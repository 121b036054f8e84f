import type { Clock, NodeId, StreamId } from '@runnel/protocol'
import { LRU } from 'tiny-lru'
import type { ClusterCounterName } from './core/cluster-counters.ts'
import type { ClusterLimits } from './limits.ts'

type OwnTrackersLimits = Pick<
  ClusterLimits,
  'maxStreams' | 'maxLookups' | 'streamLifetimeMs' | 'readTimeoutMs'
>

export interface OwnTrackersModules {
  readonly clock: Clock
  lookUp(streamId: StreamId): Promise<readonly NodeId[]>
  /** The answer of a look-up is known, or has changed. */
  onKnown(streamId: StreamId): void
  count(name: ClusterCounterName): void
}

interface Known {
  readonly trackers: readonly NodeId[]
  readonly askedAt: number
}

/** Which trackers streams name in the registry; cached for a while. */
export class OwnTrackers {
  readonly #limits: OwnTrackersLimits
  readonly #modules: OwnTrackersModules
  readonly #known: LRU<Known>
  readonly #asking = new Set<StreamId>()
  /** What was known at this time of any stream has to be looked up again. */
  #allChangedAt = -Infinity

  constructor(limits: OwnTrackersLimits, modules: OwnTrackersModules) {
    this.#limits = limits
    this.#known = new LRU(limits.maxStreams)
    this.#modules = modules
  }

  /** Undefined while the registry is asked; `onKnown` follows. */
  of(streamId: StreamId): readonly NodeId[] | undefined {
    const known = this.#known.peek(streamId)
    const nowMs = this.#modules.clock.monotonicMs()
    if (known !== undefined && this.#isFresh(known, nowMs)) return known.trackers
    if (!this.#asking.has(streamId)) {
      if (this.#asking.size < this.#limits.maxLookups) this.#ask(streamId)
      else {
        this.#modules.count('lookupsRefused')
        return known?.trackers ?? []
      }
    }
    return known?.trackers
  }

  /** A stream may name others now; any, when none is given. One that was asked about is at once again, any when it is asked for. */
  changed(streamId: StreamId | undefined): void {
    if (streamId === undefined) {
      this.#allChangedAt = this.#modules.clock.monotonicMs()
      return
    }
    const known = this.#known.peek(streamId)
    if (known === undefined) return
    this.#known.set(streamId, { ...known, askedAt: -Infinity })
    this.of(streamId)
  }

  #isFresh({ askedAt }: Known, nowMs: number): boolean {
    return askedAt > this.#allChangedAt && nowMs - askedAt < this.#limits.streamLifetimeMs
  }

  /** While the registry does not answer, a stream counts as naming none. */
  #ask(streamId: StreamId): void {
    const { clock, count, lookUp } = this.#modules
    const failed = () => {
      count('lookupsFailed')
      this.#learn(streamId, this.#known.peek(streamId)?.trackers ?? [])
    }
    this.#asking.add(streamId)
    const cancel = clock.schedule(this.#limits.readTimeoutMs, failed)
    const end = () => {
      cancel()
      this.#asking.delete(streamId)
    }
    lookUp(streamId)
      .finally(end)
      .then((trackers) => this.#learn(streamId, trackers), failed)
  }

  #learn(streamId: StreamId, trackers: readonly NodeId[]): void {
    const before = this.#known.peek(streamId)
    this.#known.set(streamId, { trackers, askedAt: this.#modules.clock.monotonicMs() })
    if (before?.trackers.join() !== trackers.join()) this.#modules.onKnown(streamId)
  }
}
