import type { TrackerAddress, TrackerDirectory } from '@runnel/network'
import {
  parseStreamPartId,
  responsibleTrackers,
  type NodeId,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'
import { isTrackerUrl } from './tracker-url.ts'

/**
 * Trackers that a node tries in turn for a stream part whose stream names none of its own. The first one available leads;
 * the second is prepared to.
 */
const maxTrackersTried = 8

/** Stream parts whose trackers are remembered until the registry changes; when there are more, all are forgotten. */
const maxOrders = 10_000

/** The result of reading a list of trackers. */
export interface TrackerListing {
  /** No tracker in it can be used; `kept` are still used that were known before. */
  readonly isEmpty: boolean
  readonly kept: number
  /** Left out, because nothing can connect to their URL. */
  readonly unusable: readonly TrackerAddress[]
}

/**
 * Which trackers serve a stream part: the ones the stream names, in its order, or else the choice of `responsibleTrackers`. It is
 * told what the registries say; it never asks.
 */
export class RegistryTrackerDirectory implements TrackerDirectory {
  #trackers: readonly TrackerAddress[] = []
  #byId = new Map<NodeId, TrackerAddress>()
  readonly #orders = new Map<StreamPartId, readonly TrackerAddress[]>()
  readonly #ownTrackers = new Map<StreamId, readonly NodeId[]>()
  readonly #listeners = new Set<() => void>()

  trackersFor(streamPartId: StreamPartId): readonly TrackerAddress[] {
    const known = this.#orders.get(streamPartId)
    if (known !== undefined) return known
    const order = this.#order(streamPartId)
    if (this.#orders.size >= maxOrders) this.#orders.clear()
    this.#orders.set(streamPartId, order)
    return order
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * All trackers in the registry. Trackers that nothing can connect to are left out. If that leaves none, the previous ones stay
   * in use, so overlays go on until the registry is corrected.
   */
  setTrackers(trackers: readonly TrackerAddress[]): TrackerListing {
    const usable = trackers.filter(({ url }) => isTrackerUrl(url))
    const unusable = trackers.filter((tracker) => !usable.includes(tracker))
    if (usable.length === 0) return { isEmpty: true, kept: this.#trackers.length, unusable }
    const changed = !isEqual(usable, this.#trackers)
    this.#trackers = usable
    this.#byId = new Map(usable.map((tracker) => [tracker.nodeId, tracker]))
    if (changed) this.#notify()
    return { isEmpty: false, kept: 0, unusable }
  }

  /** The trackers a stream in use names; none for the network's. */
  setOwnTrackers(streamId: StreamId, trackers: readonly NodeId[]): void {
    const before = this.#ownTrackers.get(streamId) ?? []
    this.#ownTrackers.set(streamId, trackers)
    if (!isEqual(trackers, before)) this.#notify()
  }

  /** The stream is no longer in use. */
  forget(streamId: StreamId): void {
    this.#ownTrackers.delete(streamId)
    this.#orders.clear()
  }

  /** Streams in use. */
  get streams(): readonly StreamId[] {
    return [...this.#ownTrackers.keys()]
  }

  has(streamId: StreamId): boolean {
    return this.#ownTrackers.has(streamId)
  }

  get trackers(): readonly TrackerAddress[] {
    return this.#trackers
  }

  #order(streamPartId: StreamPartId): readonly TrackerAddress[] {
    const own = this.#ownTrackers.get(parseStreamPartId(streamPartId).streamId) ?? []
    const ids =
      own.length > 0 ? own : responsibleTrackers(streamPartId, [...this.#byId.keys()], maxTrackersTried)
    return ids.map((id) => this.#byId.get(id)).filter((tracker) => tracker !== undefined)
  }

  #notify(): void {
    this.#orders.clear()
    for (const listener of [...this.#listeners]) listener()
  }
}

/** Small lists of plain data. */
function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
