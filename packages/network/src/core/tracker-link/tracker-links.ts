import type { NodeId, StreamPartId } from '@runnel/protocol'
import type { TrackerAddress } from '../../ports.ts'
import { newServedPart, type ServedPart } from './served-part.ts'
import { TrackerContact, type TrackerContactLimits } from './tracker-contact.ts'

export interface TrackerLinksLimits extends TrackerContactLimits {
  readonly trackerLingerMs: number
  readonly trackerAnswerMs: number
  readonly maxContradictions: number
}

interface TrackerEffects {
  dial(tracker: TrackerAddress): void
  /** The connection, or the attempt at one, is of no use any more. */
  hangUp(trackerId: NodeId): void
  sendNodeInfo(trackerId: NodeId): void
  sendStatus(trackerId: NodeId, streamPartId: StreamPartId): void
  sendLeave(trackerId: NodeId, streamPartId: StreamPartId): void
  /** Another tracker, or a new connection to the same one, serves the stream part from now on. */
  newSession(streamPartId: StreamPartId): void
  /** There was a fault in the work of a stream part: it has no tracker any more, until it is joined again. */
  partFailed(streamPartId: StreamPartId, error: unknown): void
  /** There was a fault in the work with a tracker, which is not connected. */
  trackerFailed(trackerId: NodeId, error: unknown): void
  /** A tracker is connected and yet does not answer a join; the next is asked, if there is one. */
  silent(trackerId: NodeId, streamPartId: StreamPartId): void
}

export interface TrackerLinksModules {
  readonly effects: TrackerEffects
  trackersFor(streamPartId: StreamPartId): readonly TrackerAddress[]
  /** In [0, 1): spreads reconnects. */
  random(): number
}

/** Until a tracker that does not answer is asked again, the time doubles so often. */
const maxAnswerDoublings = 4

/**
 * Which tracker serves which stream part: the first in the directory's order that can be reached. The next is tried as
 * soon as one fails or takes long; the earlier one gets its stream parts back when it has been there for a while. Nobody is
 * believed who claims to lead. Pure, as `NodeCore`: times in, effects out.
 */
export class TrackerLinks {
  readonly #limits: TrackerLinksLimits
  readonly #modules: TrackerLinksModules
  readonly #trackers = new Map<NodeId, TrackerContact>()
  /** The joined stream parts. */
  readonly #parts = new Map<StreamPartId, ServedPart>()
  /** Stream parts that are not joined, but of which a tracker is asked something. */
  readonly #visits = new Map<StreamPartId, number>()
  /** Stream parts with something to report. */
  readonly #due = new Set<StreamPartId>()
  /** How often homes were told that they are since then: see `#contradict`. */
  readonly #contradictions = { sinceMs: -Infinity, count: 0 }
  /** When the time alone may change who serves what. */
  #reviewAtMs = Infinity

  constructor(limits: TrackerLinksLimits, modules: TrackerLinksModules) {
    this.#limits = limits
    this.#modules = modules
  }

  /** When `tick` has something to do. */
  get dueMs(): number {
    let dueMs = this.#reviewAtMs
    for (const tracker of this.#trackers.values()) {
      if (tracker.unneededSinceMs !== undefined) {
        dueMs = Math.min(dueMs, tracker.unneededSinceMs + this.#limits.trackerLingerMs)
      } else if (tracker.isClosed) dueMs = Math.min(dueMs, tracker.retryAtMs)
    }
    return dueMs
  }

  /** The connected tracker that serves a stream part. */
  homeOf(streamPartId: StreamPartId): NodeId | undefined {
    return this.#parts.get(streamPartId)?.home
  }

  /** The connected tracker of a stream part that is joined or visited. */
  trackerOf(streamPartId: StreamPartId): NodeId | undefined {
    const firstOpen = () => this.#modules.trackersFor(streamPartId).find((address) => this.#isOpen(address))
    return this.homeOf(streamPartId) ?? firstOpen()?.nodeId
  }

  /** Has a tracker of the stream part connected until as many calls of `unvisit`. */
  visit(streamPartId: StreamPartId, nowMs: number): void {
    this.#visits.set(streamPartId, (this.#visits.get(streamPartId) ?? 0) + 1)
    this.#updateNeeds(nowMs)
    this.#dial(nowMs)
  }

  unvisit(streamPartId: StreamPartId, nowMs: number): void {
    const left = (this.#visits.get(streamPartId) ?? 1) - 1
    if (left > 0) this.#visits.set(streamPartId, left)
    else this.#visits.delete(streamPartId)
    this.#updateNeeds(nowMs)
  }

  join(streamPartId: StreamPartId, nowMs: number): void {
    if (this.#parts.has(streamPartId)) return
    this.#parts.set(streamPartId, newServedPart())
    this.#within(streamPartId, () => this.#place(streamPartId, nowMs))
    this.#updateNeeds(nowMs)
    this.#dial(nowMs)
  }

  leave(streamPartId: StreamPartId, nowMs: number): void {
    const part = this.#parts.get(streamPartId)
    if (part === undefined) return
    const served = new Set([...part.farewells.keys(), ...(part.home === undefined ? [] : [part.home])])
    this.#parts.delete(streamPartId)
    this.#due.delete(streamPartId)
    for (const trackerId of served)
      this.#within(streamPartId, () => this.#modules.effects.sendLeave(trackerId, streamPartId))
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
    const due = [...this.#due]
    this.#due.clear()
    for (const streamPartId of due) {
      const home = this.homeOf(streamPartId)
      if (home === undefined) continue
      this.#within(streamPartId, () => this.#modules.effects.sendStatus(home, streamPartId))
    }
  }

  opened(trackerId: NodeId, nowMs: number): void {
    const tracker = this.#trackers.get(trackerId)
    if (tracker === undefined) {
      this.#modules.effects.hangUp(trackerId)
      return
    }
    // After none could be reached, others have come back as well; their order should decide, not which was tried first.
    if (!this.#hasOpen) {
      for (const other of this.#trackers.values()) other.hurry(nowMs)
      this.#dial(nowMs)
    }
    tracker.opened(nowMs)
    this.#modules.effects.sendNodeInfo(trackerId)
    this.update(nowMs)
  }

  /** A dial failed, or the connection was lost. */
  closed(trackerId: NodeId, nowMs: number): void {
    const tracker = this.#trackers.get(trackerId)
    if (tracker === undefined || tracker.isClosed) return
    tracker.closed(nowMs, this.#modules.random())
    this.#forgetSession(trackerId)
    this.update(nowMs)
  }

  /** A tracker tells a stream part its neighbours: it does answer, be it late. True when it is the one that serves it. */
  instructed(trackerId: NodeId, streamPartId: StreamPartId, nowMs: number): boolean {
    const part = this.#parts.get(streamPartId)
    if (part === undefined) return false
    if (part.silent.delete(trackerId)) this.update(nowMs)
    if (part.home !== trackerId) {
      this.#contradict(streamPartId, part, nowMs)
      return false
    }
    part.instructed = true
    part.askedAtMs = undefined
    part.unanswered = 0
    return true
  }

  /**
   * Another tracker takes itself for the one that serves a stream part, or passes on what the one that leads it sent the
   * wrong way: the home is told that it is the one, in a new session, as what made it believe otherwise may claim a later one
   * than this. Not each time, or a tracker could have the node flood its home.
   */
  #contradict(streamPartId: StreamPartId, part: ServedPart, nowMs: number): void {
    const { trackerAnswerMs, maxContradictions } = this.#limits
    const isRecent = (atMs: number) => nowMs - atMs < trackerAnswerMs
    if (part.home === undefined || isRecent(part.contradictedAtMs)) return
    const recent = this.#contradictions
    if (!isRecent(recent.sinceMs)) Object.assign(recent, { sinceMs: nowMs, count: 0 })
    if (++recent.count > maxContradictions) return
    part.contradictedAtMs = nowMs
    this.#modules.effects.newSession(streamPartId)
    this.#due.add(streamPartId)
  }

  /** The network is there again: trackers that wait to be dialled again are dialled now. */
  networkBack(nowMs: number): void {
    for (const tracker of this.#trackers.values()) tracker.networkBack(nowMs)
    this.#dial(nowMs)
  }

  /** The directory may have changed. */
  update(nowMs: number): void {
    this.#followMoves(nowMs)
    this.#reviewAtMs = Infinity
    for (const streamPartId of [...this.#parts.keys()])
      this.#within(streamPartId, () => this.#place(streamPartId, nowMs))
    this.#updateNeeds(nowMs)
    this.#dial(nowMs)
  }

  tick(nowMs: number): void {
    for (const [trackerId, { unneededSinceMs }] of this.#trackers) {
      if (unneededSinceMs === undefined || unneededSinceMs + this.#limits.trackerLingerMs > nowMs) continue
      this.#trackers.delete(trackerId)
      this.#forgetSession(trackerId)
      this.#modules.effects.hangUp(trackerId)
    }
    if (nowMs >= this.#reviewAtMs) this.update(nowMs)
    else this.#dial(nowMs)
  }

  /** Decides who serves a stream part. */
  #place(streamPartId: StreamPartId, nowMs: number): void {
    const part = this.#parts.get(streamPartId)
    if (part === undefined) return
    this.#noticeSilence(streamPartId, part, nowMs)
    const before = part.home
    const home = this.#choose(part, this.#candidates(streamPartId, nowMs), nowMs)
    this.#sayFarewells(streamPartId, part, home, nowMs)
    if (home === before) return
    if (before !== undefined) this.#leaveBehind(streamPartId, part, before, nowMs)
    part.home = home
    part.askedAtMs = undefined
    part.unanswered = 0
    if (home === undefined) return
    part.farewells.delete(home)
    if (!part.instructed) {
      part.askedAtMs = nowMs
      this.#review(nowMs + this.#limits.trackerAnswerMs)
    }
    this.#modules.effects.newSession(streamPartId)
    this.#due.add(streamPartId)
  }

  /** The first that is open; but while another serves the stream part, and not just owes an answer, only one that has proved to stay. */
  #choose(part: ServedPart, candidates: readonly TrackerAddress[], nowMs: number): NodeId | undefined {
    const open = candidates.filter((address) => this.#isOpen(address))
    const answering = open.filter(({ nodeId }) => !part.silent.has(nodeId))
    const usable = answering.length > 0 ? answering : open
    const hasHome = part.askedAtMs === undefined && usable.some(({ nodeId }) => nodeId === part.home)
    const first = usable.find(
      ({ nodeId }) => !hasHome || nodeId === part.home || this.#isSettled(nodeId, nowMs),
    )
    return first?.nodeId
  }

  #noticeSilence(streamPartId: StreamPartId, part: ServedPart, nowMs: number): void {
    if (part.home === undefined || part.askedAtMs === undefined) return
    const answerByMs = part.askedAtMs + this.#answerMs(part)
    if (nowMs < answerByMs) return this.#review(answerByMs)
    if (part.unanswered++ === 0) {
      part.silent.add(part.home)
      this.#modules.effects.silent(part.home, streamPartId)
    }
    // There may be no other to ask, and the question or its answer may be what was lost.
    part.askedAtMs = nowMs
    this.#due.add(streamPartId)
    this.#review(nowMs + this.#answerMs(part))
  }

  /** A tracker with too much to do is not asked ever more. */
  #answerMs({ unanswered }: ServedPart): number {
    return this.#limits.trackerAnswerMs * 2 ** Math.min(unanswered, maxAnswerDoublings)
  }

  /**
   * Another tracker serves the stream part from now on. The one before learns of it later: one that repairs the overlay
   * while all its nodes go elsewhere tears it apart. If it has not even answered it has nothing to repair, and would only
   * remember the node as it was when it came.
   */
  #leaveBehind(streamPartId: StreamPartId, part: ServedPart, trackerId: NodeId, nowMs: number): void {
    if (part.askedAtMs !== undefined && !part.silent.has(trackerId)) {
      this.#modules.effects.sendLeave(trackerId, streamPartId)
      return
    }
    const atMs = nowMs + this.#limits.trackerLingerMs
    part.farewells.set(trackerId, atMs)
    this.#review(atMs)
  }

  #sayFarewells(streamPartId: StreamPartId, part: ServedPart, home: NodeId | undefined, nowMs: number): void {
    for (const [trackerId, atMs] of part.farewells) {
      if (trackerId === home) continue
      if (atMs > nowMs) {
        this.#review(atMs)
        continue
      }
      part.farewells.delete(trackerId)
      this.#modules.effects.sendLeave(trackerId, streamPartId)
    }
  }

  /** The trackers a stream part needs: down to the one that serves it, or to the first that nobody has to give up yet. */
  #candidates(streamPartId: StreamPartId, nowMs: number): TrackerAddress[] {
    const part = this.#parts.get(streamPartId)
    const addresses = this.#modules.trackersFor(streamPartId)
    const hasHome = addresses.some(({ nodeId }) => nodeId === part?.home)
    const candidates: TrackerAddress[] = []
    for (const address of addresses) {
      candidates.push(address)
      const tracker = this.#need(address, nowMs)
      if (part?.silent.has(address.nodeId)) continue
      if (tracker.isOpen) {
        if (!hasHome || part?.home === address.nodeId || tracker.settledAtMs <= nowMs) break
        this.#review(tracker.settledAtMs)
      } else if (tracker.lateAtMs > nowMs) {
        this.#review(tracker.lateAtMs)
        if (!hasHome) break
      }
    }
    return candidates
  }

  get #hasOpen(): boolean {
    for (const tracker of this.#trackers.values()) if (tracker.isOpen) return true
    return false
  }

  #isOpen({ nodeId }: TrackerAddress): boolean {
    return this.#trackers.get(nodeId)?.isOpen ?? false
  }

  #isSettled(trackerId: NodeId, nowMs: number): boolean {
    return (this.#trackers.get(trackerId)?.settledAtMs ?? Infinity) <= nowMs
  }

  #need(address: TrackerAddress, nowMs: number): TrackerContact {
    const known = this.#trackers.get(address.nodeId)
    if (known !== undefined) return known
    const tracker = new TrackerContact(address, this.#limits, nowMs)
    this.#trackers.set(address.nodeId, tracker)
    return tracker
  }

  /** A tracker with another URL than before is another one to reach. */
  #followMoves(nowMs: number): void {
    for (const streamPartId of [...this.#parts.keys(), ...this.#visits.keys()]) {
      this.#within(streamPartId, () => {
        for (const address of this.#modules.trackersFor(streamPartId)) this.#followMove(address, nowMs)
      })
    }
  }

  #followMove(address: TrackerAddress, nowMs: number): void {
    const tracker = this.#trackers.get(address.nodeId)
    if (tracker === undefined || tracker.address.url === address.url) return
    this.#forgetSession(address.nodeId)
    this.#trackers.set(address.nodeId, new TrackerContact(address, this.#limits, nowMs))
    if (!tracker.isClosed) this.#modules.effects.hangUp(address.nodeId)
  }

  /** The connection is gone, and with it what the tracker owed or was to be told. */
  #forgetSession(trackerId: NodeId): void {
    for (const part of this.#parts.values()) {
      part.silent.delete(trackerId)
      part.farewells.delete(trackerId)
      if (part.home !== trackerId) continue
      part.home = undefined
      // They were passed over for this one.
      part.silent.clear()
    }
  }

  #updateNeeds(nowMs: number): void {
    const needed = new Set<NodeId>()
    for (const streamPartId of [...this.#parts.keys(), ...this.#visits.keys()]) {
      this.#within(streamPartId, () => {
        for (const { nodeId } of this.#candidates(streamPartId, nowMs)) needed.add(nodeId)
      })
    }
    for (const [trackerId, tracker] of this.#trackers) {
      if (needed.has(trackerId)) tracker.unneededSinceMs = undefined
      else tracker.unneededSinceMs ??= nowMs
    }
  }

  #dial(nowMs: number): void {
    for (const tracker of this.#trackers.values()) {
      if (!tracker.isClosed || tracker.unneededSinceMs !== undefined || tracker.retryAtMs > nowMs) continue
      tracker.dialled(nowMs)
      this.#review(tracker.lateAtMs)
      try {
        this.#modules.effects.dial(tracker.address)
      } catch (error) {
        tracker.closed(nowMs, this.#modules.random())
        // The next one's turn.
        this.#review(nowMs)
        this.#modules.effects.trackerFailed(tracker.address.nodeId, error)
      }
    }
  }

  /** Does some work of a stream part. What it throws ends the work with this one, and the others go on. */
  #within(streamPartId: StreamPartId, work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#parts.delete(streamPartId)
      this.#due.delete(streamPartId)
      this.#visits.delete(streamPartId)
      this.#modules.effects.partFailed(streamPartId, error)
    }
  }

  /** Looks again at this time; not at -Infinity, which is over. */
  #review(atMs: number): void {
    if (atMs !== -Infinity) this.#reviewAtMs = Math.min(this.#reviewAtMs, atMs)
  }
}
