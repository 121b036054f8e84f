import type { NodeId, StreamPartId } from '@runnel/protocol'
import type { TrackerAddress } from '../../ports.ts'
import { backoffMs } from '../neighbours/backoff.ts'

export interface TrackerLinksLimits {
  readonly minTrackerBackoffMs: number
  readonly maxTrackerBackoffMs: number
  readonly trackerLingerMs: number
}

export interface TrackerEffects {
  dial(tracker: TrackerAddress): void
  /** The connection, or the attempt at one, is of no use any more. */
  hangUp(trackerId: NodeId): void
  sendNodeInfo(trackerId: NodeId): void
  sendStatus(trackerId: NodeId, streamPartId: StreamPartId): void
  sendLeave(trackerId: NodeId, streamPartId: StreamPartId): void
  /** Another tracker, or a new connection to the same one, serves the stream part from now on. */
  newSession(streamPartId: StreamPartId): void
}

export interface TrackerLinksModules {
  readonly effects: TrackerEffects
  trackersFor(streamPartId: StreamPartId): readonly TrackerAddress[]
  /** In [0, 1): spreads reconnects. */
  random(): number
}

interface TrackerState {
  address: TrackerAddress
  state: 'closed' | 'dialling' | 'open'
  /** Attempts and connections that failed since the last time it was open. */
  failures: number
  retryAtMs: number
  /** Since when no stream part needs it; undefined while one does. */
  unneededSinceMs: number | undefined
}

/**
 * Which tracker serves which stream part: the first in the directory's order that can be reached. One that cannot be is
 * tried again and again, and gets its stream parts back when it is. Pure, as `NodeCore`: times in, effects out.
 */
export class TrackerLinks {
  readonly #limits: TrackerLinksLimits
  readonly #modules: TrackerLinksModules
  readonly #trackers = new Map<NodeId, TrackerState>()
  /** The joined stream parts, and which connected tracker serves each. */
  readonly #homes = new Map<StreamPartId, NodeId | undefined>()
  /** Stream parts that are not joined, but of which a tracker is asked something. */
  readonly #visits = new Map<StreamPartId, number>()
  /** Stream parts with something to report. */
  readonly #due = new Set<StreamPartId>()

  constructor(limits: TrackerLinksLimits, modules: TrackerLinksModules) {
    this.#limits = limits
    this.#modules = modules
  }

  /** When `tick` has something to do. */
  get dueMs(): number {
    let dueMs = Infinity
    for (const tracker of this.#trackers.values()) {
      if (tracker.unneededSinceMs !== undefined) {
        dueMs = Math.min(dueMs, tracker.unneededSinceMs + this.#limits.trackerLingerMs)
      } else if (tracker.state === 'closed') dueMs = Math.min(dueMs, tracker.retryAtMs)
    }
    return dueMs
  }

  /** The connected tracker that serves a stream part. */
  homeOf(streamPartId: StreamPartId): NodeId | undefined {
    return this.#homes.get(streamPartId)
  }

  /** The connected tracker of a stream part that is joined or visited. */
  trackerOf(streamPartId: StreamPartId): NodeId | undefined {
    return this.#homes.get(streamPartId) ?? this.#firstOpen(this.#candidates(streamPartId))
  }

  /** Has a tracker of the stream part connected until as many calls of `unvisit`. */
  visit(streamPartId: StreamPartId, nowMs: number): void {
    this.#visits.set(streamPartId, (this.#visits.get(streamPartId) ?? 0) + 1)
    for (const address of this.#candidates(streamPartId)) this.#need(address, nowMs)
    this.#dial(nowMs)
  }

  unvisit(streamPartId: StreamPartId, nowMs: number): void {
    const left = (this.#visits.get(streamPartId) ?? 1) - 1
    if (left > 0) this.#visits.set(streamPartId, left)
    else this.#visits.delete(streamPartId)
    this.#updateNeeds(nowMs)
  }

  join(streamPartId: StreamPartId, nowMs: number): void {
    if (this.#homes.has(streamPartId)) return
    this.#homes.set(streamPartId, undefined)
    this.#place(streamPartId, nowMs)
    this.#dial(nowMs)
  }

  leave(streamPartId: StreamPartId, nowMs: number): void {
    const home = this.#homes.get(streamPartId)
    if (home !== undefined) this.#modules.effects.sendLeave(home, streamPartId)
    this.#homes.delete(streamPartId)
    this.#due.delete(streamPartId)
    this.#updateNeeds(nowMs)
  }

  /** Something changed that the tracker should hear; told by the next `flush`. */
  statusDue(streamPartId: StreamPartId): void {
    this.#due.add(streamPartId)
  }

  /** Whether `flush` has something to tell. */
  get hasNews(): boolean {
    return this.#due.size > 0
  }

  /** Sends one status for each stream part that has something to report and a tracker to hear it. */
  flush(): void {
    for (const streamPartId of this.#due) {
      const home = this.#homes.get(streamPartId)
      if (home !== undefined) this.#modules.effects.sendStatus(home, streamPartId)
    }
    this.#due.clear()
  }

  opened(trackerId: NodeId, nowMs: number): void {
    const tracker = this.#trackers.get(trackerId)
    if (tracker === undefined) {
      this.#modules.effects.hangUp(trackerId)
      return
    }
    tracker.state = 'open'
    tracker.failures = 0
    this.#modules.effects.sendNodeInfo(trackerId)
    this.update(nowMs)
  }

  /** A dial failed, or the connection was lost. */
  closed(trackerId: NodeId, nowMs: number): void {
    const tracker = this.#trackers.get(trackerId)
    if (tracker === undefined || tracker.state === 'closed') return
    const { minTrackerBackoffMs, maxTrackerBackoffMs } = this.#limits
    tracker.state = 'closed'
    tracker.failures++
    const pauseMs = backoffMs(tracker.failures, minTrackerBackoffMs, maxTrackerBackoffMs)
    tracker.retryAtMs = nowMs + Math.ceil(pauseMs * (1 - this.#modules.random() / 2))
    for (const [streamPartId, home] of this.#homes) {
      if (home === trackerId) this.#homes.set(streamPartId, undefined)
    }
    this.update(nowMs)
  }

  /** The directory changed. */
  update(nowMs: number): void {
    for (const streamPartId of this.#homes.keys()) this.#place(streamPartId, nowMs)
    for (const streamPartId of this.#visits.keys()) {
      for (const address of this.#candidates(streamPartId)) this.#need(address, nowMs)
    }
    this.#updateNeeds(nowMs)
    this.#dial(nowMs)
  }

  tick(nowMs: number): void {
    for (const [trackerId, { unneededSinceMs }] of this.#trackers) {
      if (unneededSinceMs === undefined || unneededSinceMs + this.#limits.trackerLingerMs > nowMs) continue
      this.#trackers.delete(trackerId)
      this.#modules.effects.hangUp(trackerId)
    }
    this.#dial(nowMs)
  }

  #place(streamPartId: StreamPartId, nowMs: number): void {
    const candidates = this.#candidates(streamPartId)
    for (const address of candidates) this.#need(address, nowMs)
    const home = this.#firstOpen(candidates)
    const before = this.#homes.get(streamPartId)
    if (home === before) return
    const { effects } = this.#modules
    if (before !== undefined) effects.sendLeave(before, streamPartId)
    this.#homes.set(streamPartId, home)
    if (home === undefined) return
    effects.newSession(streamPartId)
    this.#due.add(streamPartId)
  }

  /** The trackers a stream part needs: down to the first that has not failed. */
  #candidates(streamPartId: StreamPartId): TrackerAddress[] {
    const candidates: TrackerAddress[] = []
    for (const address of this.#modules.trackersFor(streamPartId)) {
      candidates.push(address)
      if ((this.#trackers.get(address.nodeId)?.failures ?? 0) === 0) break
    }
    return candidates
  }

  #firstOpen(candidates: readonly TrackerAddress[]): NodeId | undefined {
    return candidates.find(({ nodeId }) => this.#trackers.get(nodeId)?.state === 'open')?.nodeId
  }

  #need(address: TrackerAddress, nowMs: number): void {
    const tracker = this.#trackers.get(address.nodeId)
    if (tracker === undefined) {
      this.#trackers.set(address.nodeId, {
        address,
        state: 'closed',
        failures: 0,
        retryAtMs: nowMs,
        unneededSinceMs: undefined,
      })
      return
    }
    tracker.address = address
    tracker.unneededSinceMs = undefined
  }

  #updateNeeds(nowMs: number): void {
    const needed = new Set<NodeId>()
    for (const streamPartId of [...this.#homes.keys(), ...this.#visits.keys()]) {
      for (const { nodeId } of this.#candidates(streamPartId)) needed.add(nodeId)
    }
    for (const [trackerId, tracker] of this.#trackers) {
      if (needed.has(trackerId)) tracker.unneededSinceMs = undefined
      else tracker.unneededSinceMs ??= nowMs
    }
  }

  #dial(nowMs: number): void {
    for (const tracker of this.#trackers.values()) {
      if (tracker.state !== 'closed' || tracker.unneededSinceMs !== undefined) continue
      if (tracker.retryAtMs > nowMs) continue
      tracker.state = 'dialling'
      this.#modules.effects.dial(tracker.address)
    }
  }
}
