import type { NodeId } from '@runnel/protocol'
import type { TrackerLogger } from '../logger.ts'
import type { RegisteredTracker, TrackerRegistryView } from './ports.ts'

export interface RegisteredTrackersModules {
  readonly self: NodeId
  readonly registry: Pick<TrackerRegistryView, 'trackers'>
  readonly logger: TrackerLogger
}

/** The registered trackers, as far as this one uses them: as many as are linked at once, and itself. */
export class RegisteredTrackers {
  readonly #limits: { readonly maxTrackers: number }
  readonly #modules: RegisteredTrackersModules
  #all: readonly RegisteredTracker[] = []
  #ids: readonly NodeId[] = []

  constructor(limits: { readonly maxTrackers: number }, modules: RegisteredTrackersModules) {
    this.#limits = limits
    this.#modules = modules
  }

  /** This one first, when it is listed. */
  get all(): readonly RegisteredTracker[] {
    return this.#all
  }

  get ids(): readonly NodeId[] {
    return this.#ids
  }

  /** The trackers that link to this one: none when it is not listed. */
  get others(): readonly RegisteredTracker[] {
    return this.isListed ? this.#all.slice(1) : []
  }

  /** Whether this tracker is listed. */
  get isListed(): boolean {
    return this.has(this.#modules.self)
  }

  has(id: NodeId): boolean {
    return this.#ids.includes(id)
  }

  /** Reads the registry again. */
  read(): void {
    const { self, registry, logger } = this.#modules
    const wasListed = this.isListed
    const others = registry.trackers
      .filter(({ nodeId }) => nodeId !== self)
      .toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1))
      .slice(0, this.#limits.maxTrackers)
    this.#all = [...registry.trackers.filter(({ nodeId }) => nodeId === self), ...others]
    this.#ids = this.#all.map(({ nodeId }) => nodeId)
    if (this.#all.length === 0) logger.info({}, 'the registry lists no tracker; this one works alone')
    else if (wasListed && !this.isListed)
      logger.warn(
        { nodeId: self },
        'the registry does not list this tracker; other trackers do not link to it',
      )
  }
}
