import type { TrackerAddress, TrackerDirectory } from '@runnel/network'
import {
  parseStreamPartId,
  responsibleTrackers,
  type NodeId,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'
import { isTrackerUrl } from './tracker-url.ts'

/** Trackers of a stream part whose stream names none of its own: the first one, and one in reserve. */
const trackersPerStreamPart = 2

/**
 * Which tracker serves which stream part: those the stream names, in its order, or else those that `responsibleTrackers`
 * gives of all. It is told what the registries say; it never asks.
 */
export class RegistryTrackerDirectory implements TrackerDirectory {
  #trackers: readonly TrackerAddress[] = []
  #byId = new Map<NodeId, TrackerAddress>()
  readonly #ownTrackers = new Map<StreamId, readonly NodeId[]>()
  readonly #listeners = new Set<() => void>()

  trackersFor(streamPartId: StreamPartId): readonly TrackerAddress[] {
    const own = this.#ownTrackers.get(parseStreamPartId(streamPartId).streamId) ?? []
    const ids =
      own.length > 0 ? own : responsibleTrackers(streamPartId, [...this.#byId.keys()], trackersPerStreamPart)
    return ids.map((id) => this.#byId.get(id)).filter((tracker) => tracker !== undefined)
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** All trackers, as the registry has them. Returns those left out because nothing can connect to their URL. */
  setTrackers(trackers: readonly TrackerAddress[]): readonly TrackerAddress[] {
    const usable = trackers.filter(({ url }) => isTrackerUrl(url))
    const changed = !isEqual(usable, this.#trackers)
    this.#trackers = usable
    this.#byId = new Map(usable.map((tracker) => [tracker.nodeId, tracker]))
    if (changed) this.#notify()
    return trackers.filter((tracker) => !usable.includes(tracker))
  }

  /** The trackers a stream in use names; none for the network's. */
  setOwnTrackers(streamId: StreamId, trackers: readonly NodeId[]): void {
    const before = this.#ownTrackers.get(streamId) ?? []
    this.#ownTrackers.set(streamId, trackers)
    if (!isEqual(trackers, before)) this.#notify()
  }

  /** The stream is not in use any more. */
  forget(streamId: StreamId): void {
    this.#ownTrackers.delete(streamId)
  }

  /** Streams in use. */
  get streams(): readonly StreamId[] {
    return [...this.#ownTrackers.keys()]
  }

  get trackers(): readonly TrackerAddress[] {
    return this.#trackers
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener()
  }
}

/** Small lists of plain data. */
function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
