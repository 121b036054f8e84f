import type { NodeId, StreamPartId } from '@runnel/protocol'
import type { TrackerAddress } from '../../ports.ts'
import type { LostConnection } from '../events.ts'
import { ServedPart } from './served-part.ts'
import { StatusTurns, type StatusTurnsLimits, type Turn } from './status-turns.ts'
import type { TrackerContact } from './tracker-contact.ts'
import { TrackerContacts, type TrackerContactsLimits } from './tracker-contacts.ts'
import { directWay, type Way } from './way.ts'

export interface TrackerLinksLimits extends TrackerContactsLimits, StatusTurnsLimits {
  readonly trackerAnswerMs: number
}

interface TrackerEffects {
  dial(way: Way): void
  /** The connection, or the attempt to open one, is no longer needed. */
  hangUp(way: Way): void
  sendNodeInfo(way: Way): void
  sendStatus(way: Way, streamPartId: StreamPartId): void
  sendLeave(way: Way, streamPartId: StreamPartId): void
  /**
   * Another tracker, or a new connection to the same one, serves the joined stream part from now on. `lost`: that to this one, or to the one before,
   * was lost.
   */
  newSession(streamPartId: StreamPartId, lost: LostConnection | undefined): void
  /** Another tracker, or a new connection to the same one, can be asked about the visited stream part from now on. */
  newTracker(streamPartId: StreamPartId): void
  /** Work of a stream part had a fault: it has no tracker until it is joined again. */
  partFailed(streamPartId: StreamPartId, error: unknown): void
  /** A connected tracker does not answer a join, or answers wrongly; the next is asked, if there is one. */
  silent(trackerId: NodeId, streamPartId: StreamPartId): void
}

export interface TrackerLinksModules {
  readonly effects: TrackerEffects
  trackersFor(streamPartId: StreamPartId): readonly TrackerAddress[]
  /** In [0, 1): spreads reconnects. */
  random(): number
}

/** How often the pause doubles before a silent tracker is asked again. */
const maxAnswerDoublings = 4

/**
 * Which tracker serves which stream part: the first in the directory's order that can be reached, directly or by a circuit over
 * one that redirected here. The next is tried as soon as one fails or takes long. An earlier one gets its stream parts back
 * once it has been connected for a while, or at once when the one that serves says so. Pure, like `NodeCore`: times in, effects
 * out.
 */
export class TrackerLinks {
  readonly #limits: TrackerLinksLimits
  readonly #modules: TrackerLinksModules
  readonly #contacts: TrackerContacts
  readonly #parts = new Map<StreamPartId, ServedPart>()
  readonly #statuses: StatusTurns
  /** When time alone may change who serves what. */
  #reviewAtMs = Infinity

  constructor(limits: TrackerLinksLimits, modules: TrackerLinksModules) {
    this.#limits = limits
    this.#modules = modules
    this.#contacts = new TrackerContacts(limits)
    this.#statuses = new StatusTurns(limits)
  }

  /** When `tick` is due. */
  get dueMs(): number {
    return Math.min(this.#reviewAtMs, this.#contacts.dueMs, this.#statuses.dueMs)
  }

  /** The connected tracker that serves a joined stream part. */
  homeOf(streamPartId: StreamPartId): NodeId | undefined {
    const part = this.#parts.get(streamPartId)
    return part?.joined ? part.home?.trackerId : undefined
  }

  /** The way to the connected tracker of a stream part. */
  wayFor(streamPartId: StreamPartId): Way | undefined {
    const part = this.#parts.get(streamPartId)
    if (part !== undefined) return part.home?.isOpen ? part.home.way : undefined
    for (const address of this.#modules.trackersFor(streamPartId)) {
      const open = this.#contacts.openTo(address)
      if (open !== undefined) return open.way
    }
    return undefined
  }

  /** The way to the tracker that serves a joined stream part, once a tracker has taken this node into it. */
  wayOfMember(streamPartId: StreamPartId): Way | undefined {
    const part = this.#parts.get(streamPartId)
    return part?.joined && part.instructed && part.home?.isOpen ? part.home.way : undefined
  }

  /** Keeps a tracker of the stream part connected until as many calls of `unvisit`. */
  visit(streamPartId: StreamPartId, nowMs: number): void {
    const part = this.#partOf(streamPartId)
    part.visits++
    this.#settle(part, nowMs)
  }

  unvisit(streamPartId: StreamPartId, nowMs: number): void {
    const part = this.#parts.get(streamPartId)
    if (part === undefined) return
    part.visits--
    if (part.visits <= 0 && !part.joined) this.#forget(part, nowMs)
  }

  /** A tracker is asked about a stream part by a packet other than a status. */
  asked(streamPartId: StreamPartId, trackerId: NodeId): void {
    this.#parts.get(streamPartId)?.asked.add(trackerId)
  }

  join(streamPartId: StreamPartId, nowMs: number): void {
    const part = this.#partOf(streamPartId)
    if (part.joined) return
    part.joined = true
    part.home = undefined
    this.#settle(part, nowMs)
  }

  leave(streamPartId: StreamPartId, nowMs: number): void {
    const part = this.#parts.get(streamPartId)
    if (part?.joined !== true) return
    const served = new Set([...part.deferredLeaves.keys(), ...(part.home ? [part.home.trackerId] : [])])
    this.#forget(part, nowMs)
    for (const trackerId of served)
      this.#within(streamPartId, nowMs, () => this.#sendLeave(trackerId, streamPartId))
    if (part.visits === 0) return
    const visited = this.#partOf(streamPartId)
    visited.visits = part.visits
    this.#settle(visited, nowMs)
  }

  /** Something changed that the tracker should know; reported by the next `flush`. */
  statusDue(streamPartId: StreamPartId, lostNeighbour = false): void {
    this.#statuses.add(streamPartId)
    const part = this.#parts.get(streamPartId)
    if (part !== undefined) part.lostNeighbour ||= lostNeighbour
  }

  /** Whether `flush` has something to report now. */
  get hasNews(): boolean {
    return this.#statuses.hasNews
  }

  /**
   * Sends one status for each stream part that has something to report and a connected tracker, urgent ones first, as far as that takes so many:
   * the others wait for their turn, and then tell the newest.
   */
  flush(nowMs: number): void {
    const turnOf = (streamPartId: StreamPartId) => this.#turnOf(streamPartId)
    for (const { streamPartId, mayTell } of this.#statuses.next(nowMs, turnOf)) {
      const part = this.#parts.get(streamPartId)
      const way = part?.home?.way
      if (part === undefined || way === undefined) continue
      if (mayTell) this.#tell(part, way, nowMs)
      // It owes nothing before it was asked.
      else if (part.askedAtMs !== undefined) part.askedAtMs = Infinity
    }
  }

  #turnOf(streamPartId: StreamPartId): Turn | undefined {
    const part = this.#parts.get(streamPartId)
    if (part?.joined !== true || part.home === undefined) return undefined
    return { trackerId: part.home.trackerId, isUrgent: part.isUrgent }
  }

  #tell(part: ServedPart, way: Way, nowMs: number): void {
    part.asked.add(way.trackerId)
    part.lostNeighbour = false
    if (part.askedAtMs === Infinity) {
      part.askedAtMs = nowMs
      this.#review(nowMs + this.#answerMs(part))
    }
    this.#within(part.id, nowMs, () => this.#modules.effects.sendStatus(way, part.id))
  }

  opened(way: Way, nowMs: number): void {
    const contact = this.#contacts.get(way)
    if (contact === undefined || contact.isClosed) return this.#modules.effects.hangUp(way)
    // When none could be reached, others may have come back as well; their order should decide, not which was tried first.
    if (!this.#contacts.hasOpen) {
      for (const other of this.#contacts) other.hurry(nowMs)
      this.#dial(nowMs)
    }
    contact.opened(nowMs)
    this.#abandonOthers(contact, nowMs)
    this.#modules.effects.sendNodeInfo(way)
    this.update(nowMs)
  }

  /** Tells every connected tracker anew how this node is reached. */
  introduce(): void {
    for (const contact of this.#contacts) if (contact.isOpen) this.#modules.effects.sendNodeInfo(contact.way)
  }

  /** A dial failed, or the connection was lost. */
  closed(way: Way, nowMs: number): void {
    const contact = this.#contacts.get(way)
    if (contact === undefined || contact.isClosed) return
    contact.closed(nowMs, this.#modules.random())
    this.#forgetConnection(contact)
    if (!this.#isConnected(way.trackerId))
      for (const part of this.#parts.values()) part.unreachable(way.trackerId)
    this.update(nowMs)
  }

  /** A tracker sent an instruction: it does answer, even if late. True when it is the one that serves the stream part. */
  instructed(way: Way, streamPartId: StreamPartId, nowMs: number): boolean {
    const part = this.#parts.get(streamPartId)
    if (part?.joined !== true) return false
    const { trackerId } = way
    const silentSinceMs = part.silent.get(trackerId)
    // A tracker that alternates between right and wrong answers moves a stream part no more often than this.
    const isOver = silentSinceMs !== undefined && nowMs - silentSinceMs >= this.#limits.trackerAnswerMs
    if (isOver || part.home?.trackerId === trackerId) part.silent.delete(trackerId)
    if (isOver) this.#settle(part, nowMs)
    if (part.home?.way.key !== way.key) return false
    part.instructed = true
    part.askedAtMs = undefined
    part.unanswered = 0
    return true
  }

  /** A tracker says that an earlier one leads a stream part. False when it may not say that; then it counts as silent. */
  redirected(way: Way, streamPartId: StreamPartId, leaderId: NodeId, nowMs: number): boolean {
    const part = this.#parts.get(streamPartId)
    if (part === undefined) return false
    let isTaken = false
    this.#within(streamPartId, nowMs, () => {
      isTaken = part.redirect(way, leaderId, this.#modules.trackersFor(streamPartId))
      if (!isTaken) this.#ignore(part, way.trackerId, nowMs)
    })
    this.#settle(part, nowMs)
    return isTaken
  }

  /** The network is back: trackers that wait for their next dial are dialled now. */
  networkBack(nowMs: number): void {
    for (const contact of this.#contacts) contact.networkBack(nowMs)
    this.#dial(nowMs)
  }

  /** The directory may have changed. */
  update(nowMs: number): void {
    this.#reviewAtMs = Infinity
    for (const part of [...this.#parts.values()]) this.#place(part, nowMs)
    this.#dial(nowMs)
  }

  tick(nowMs: number): void {
    this.#statuses.release(nowMs)
    for (const contact of this.#contacts.removeUnneeded(nowMs)) {
      if (this.#contacts.to(contact.trackerId).length === 0) this.#statuses.forget(contact.trackerId)
      if (contact.isClosed) continue
      contact.abandoned(nowMs)
      this.#forgetConnection(contact)
      this.#modules.effects.hangUp(contact.way)
    }
    if (nowMs >= this.#reviewAtMs) this.update(nowMs)
    else this.#dial(nowMs)
  }

  #partOf(streamPartId: StreamPartId): ServedPart {
    const known = this.#parts.get(streamPartId)
    if (known !== undefined) return known
    const part = new ServedPart(streamPartId)
    this.#parts.set(streamPartId, part)
    return part
  }

  #forget(part: ServedPart, nowMs: number): void {
    this.#parts.delete(part.id)
    this.#statuses.delete(part.id)
    this.#need(part, [], nowMs)
  }

  /** Only this stream part changed. */
  #settle(part: ServedPart, nowMs: number): void {
    this.#place(part, nowMs)
    this.#dial(nowMs)
  }

  /** Decides which tracker serves a stream part, and which others it needs. */
  #place(part: ServedPart, nowMs: number): void {
    this.#within(part.id, nowMs, () => {
      if (this.#parts.get(part.id) !== part) return
      const addresses = this.#modules.trackersFor(part.id)
      part.keepListed(addresses)
      this.#noticeSilence(part, nowMs)
      const home = this.#choose(part, this.#candidates(part, addresses, nowMs), nowMs)
      if (home !== part.home) this.#move(part, home, nowMs)
      this.#sendDeferredLeaves(part, nowMs)
      this.#need(part, this.#candidates(part, addresses, nowMs), nowMs)
    })
  }

  #move(part: ServedPart, home: TrackerContact | undefined, nowMs: number): void {
    const before = part.home
    if (before !== undefined && before.trackerId !== home?.trackerId) this.#leaveBehind(part, before, nowMs)
    part.home = home
    part.askedAtMs = undefined
    part.unanswered = 0
    if (home === undefined) return
    part.deferredLeaves.delete(home.trackerId)
    const lost = part.lostId && (part.lostId === home.trackerId ? 'this' : 'other')
    part.lostId = undefined
    if (!part.joined) return this.#modules.effects.newTracker(part.id)
    if (!part.instructed) {
      part.askedAtMs = nowMs
      this.#review(nowMs + this.#limits.trackerAnswerMs)
    }
    this.#modules.effects.newSession(part.id, lost)
    this.#statuses.add(part.id)
  }

  /**
   * The first that is open; but while another serves the stream part, and does not merely owe an answer, only one that has
   * proved to stay, or that another names as the leader. One that redirects serves nobody.
   */
  #choose(
    part: ServedPart,
    candidates: readonly TrackerContact[],
    nowMs: number,
  ): TrackerContact | undefined {
    const open = candidates.filter(({ isOpen, trackerId }) => isOpen && !part.redirections.has(trackerId))
    const answering = open.filter(({ trackerId }) => !part.silent.has(trackerId))
    const usable = answering.length > 0 ? answering : open
    const { home } = part
    const hasHome = part.askedAtMs === undefined && home !== undefined && usable.includes(home)
    return usable.find((contact) => !hasHome || this.#mayServe(part, contact, nowMs))
  }

  /** Whether a connected tracker may take a stream part that another one serves. */
  #mayServe(part: ServedPart, { trackerId, settledAtMs }: TrackerContact, nowMs: number): boolean {
    return trackerId === part.home?.trackerId || settledAtMs <= nowMs || part.isNamed(trackerId)
  }

  #noticeSilence(part: ServedPart, nowMs: number): void {
    if (part.home === undefined || part.askedAtMs === undefined) return
    const answerByMs = part.askedAtMs + this.#answerMs(part)
    if (nowMs < answerByMs) return this.#review(answerByMs)
    if (part.unanswered++ === 0) this.#isSilent(part, part.home.trackerId, nowMs)
    // There may be no other to ask, and the packet or its answer may have been lost.
    part.askedAtMs = nowMs
    this.#statuses.add(part.id)
    this.#review(nowMs + this.#answerMs(part))
  }

  #isSilent(part: ServedPart, trackerId: NodeId, nowMs: number): void {
    const isNew = !part.silent.has(trackerId)
    part.silent.set(trackerId, nowMs)
    if (isNew) this.#modules.effects.silent(trackerId, part.id)
  }

  /** A tracker gave no valid answer. Where there is no other it is asked again, after a while. */
  #ignore(part: ServedPart, trackerId: NodeId, nowMs: number): void {
    this.#isSilent(part, trackerId, nowMs)
    if (!part.joined || part.home?.trackerId !== trackerId) return
    part.askedAtMs ??= nowMs
    part.unanswered = Math.max(1, part.unanswered)
  }

  /** An overloaded tracker must not be asked more and more. */
  #answerMs({ unanswered }: ServedPart): number {
    return this.#limits.trackerAnswerMs * 2 ** Math.min(unanswered, maxAnswerDoublings)
  }

  /**
   * Another tracker serves the stream part from now on. The one before is told later: if it repaired the overlay while all its
   * nodes leave, it would tear it apart. If it has not even answered it has nothing to repair, and would only remember the node
   * as it was when it came. If it redirected, it has forgotten the node.
   */
  #leaveBehind(part: ServedPart, { trackerId }: TrackerContact, nowMs: number): void {
    if (!part.joined || part.redirections.has(trackerId)) return
    if (part.askedAtMs !== undefined && !part.silent.has(trackerId)) this.#sendLeave(trackerId, part.id)
    else part.deferredLeaves.set(trackerId, nowMs + this.#limits.trackerLingerMs)
  }

  #sendDeferredLeaves(part: ServedPart, nowMs: number): void {
    for (const [trackerId, atMs] of part.deferredLeaves) {
      if (atMs > nowMs) {
        this.#review(atMs)
        continue
      }
      part.deferredLeaves.delete(trackerId)
      this.#sendLeave(trackerId, part.id)
    }
  }

  #sendLeave(trackerId: NodeId, streamPartId: StreamPartId): void {
    const contact = this.#contacts.to(trackerId).find(({ isOpen }) => isOpen)
    if (contact !== undefined) this.#modules.effects.sendLeave(contact.way, streamPartId)
  }

  /** The ways a stream part needs: up to the one that serves it, or to the first that may still open. */
  #candidates(part: ServedPart, addresses: readonly TrackerAddress[], nowMs: number): TrackerContact[] {
    const { home } = part
    const isListed = addresses.some((address) => this.#contacts.openTo(address) === home)
    const hasHome = home !== undefined && isListed && !part.redirections.has(home.trackerId)
    const candidates: TrackerContact[] = []
    for (const contact of this.#waysOf(part, addresses, nowMs)) {
      candidates.push(contact)
      if (part.passesOver(contact.trackerId)) continue
      if (contact.isOpen) {
        if (!hasHome || this.#mayServe(part, contact, nowMs)) break
        this.#review(contact.settledAtMs)
      } else if (contact.lateAtMs > nowMs) {
        this.#review(contact.lateAtMs)
        if (!hasHome) break
      }
    }
    return candidates
  }

  /** All ways to the trackers of a stream part. Where a tracker is connected, by any way, no circuit to it is tried. */
  *#waysOf(part: ServedPart, addresses: readonly TrackerAddress[], nowMs: number): Iterable<TrackerContact> {
    for (const address of addresses) {
      const direct = this.#contacts.find(directWay(address), nowMs)
      yield direct
      const open = this.#contacts.openTo(address)
      if (open === undefined) {
        for (const way of part.circuitsTo(address.nodeId, addresses)) yield this.#contacts.find(way, nowMs)
      } else if (open !== direct) yield open
    }
  }

  #need(part: ServedPart, needs: readonly TrackerContact[], nowMs: number): void {
    this.#contacts.exchange(part.needs, needs, nowMs)
    part.needs = needs
  }

  /** Only one connection to a tracker counts; a direct one is best. */
  #abandonOthers(opened: TrackerContact, nowMs: number): void {
    for (const other of this.#contacts.to(opened.trackerId)) {
      const isOfUse = !other.isCircuit && other.unneededSinceMs === undefined
      if (other === opened || other.isClosed || (isOfUse && opened.isCircuit)) continue
      other.abandoned(nowMs)
      this.#modules.effects.hangUp(other.way)
    }
  }

  #forgetConnection(contact: TrackerContact): void {
    const { trackerId } = contact
    const isGone = !this.#isConnected(trackerId)
    for (const part of this.#parts.values()) {
      if (isGone) part.disconnected(trackerId)
      if (part.home !== contact) continue
      part.home = undefined
      part.lostId = trackerId
      // They were passed over in favour of this one.
      part.silent.clear()
    }
  }

  #isConnected(trackerId: NodeId): boolean {
    return this.#contacts.to(trackerId).some(({ isOpen }) => isOpen)
  }

  #dial(nowMs: number): void {
    for (const contact of this.#contacts) {
      if (!contact.isClosed || contact.unneededSinceMs !== undefined || contact.retryAtMs > nowMs) continue
      contact.dialled(nowMs)
      this.#review(contact.lateAtMs)
      this.#modules.effects.dial(contact.way)
    }
  }

  /** Does some work of a stream part. What it throws ends the work of this one, and the others go on. */
  #within(streamPartId: StreamPartId, nowMs: number, work: () => void): void {
    try {
      work()
    } catch (error) {
      const part = this.#parts.get(streamPartId)
      if (part !== undefined) this.#forget(part, nowMs)
      this.#modules.effects.partFailed(streamPartId, error)
    }
  }

  /** Looks again at this time; ignores -Infinity, which is past. */
  #review(atMs: number): void {
    if (atMs !== -Infinity) this.#reviewAtMs = Math.min(this.#reviewAtMs, atMs)
  }
}
