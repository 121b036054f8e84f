import {
  isUrgentChain,
  type Attach,
  type Instruction,
  type MessageBatch,
  type MessageChain,
  type MessageRef,
  type NodeId,
  type Status,
  type StreamPartId,
  type Time,
} from '@runnel/protocol'
import type { NetworkLimits } from '../limits.ts'
import { Arrivals } from './arrivals.ts'
import { ControlPackets } from './control-packets.ts'
import type { Counters } from './counters.ts'
import type { DelegationBook } from './delegations/delegation-book.ts'
import { drop } from './drop.ts'
import { DueTime } from './due-time.ts'
import type { OverlayEvent } from './events.ts'
import type { Guests } from './guests/guests.ts'
import type { HostWatch } from './hosts/host-watch.ts'
import { createRooms, type OverlayModules, type Rooms } from './rooms.ts'
import { PartLives } from './stream-part/part-lives.ts'
import type { StreamPartMap } from './stream-part/stream-part-map.ts'
import type { StreamPart } from './stream-part/stream-part.ts'
import { LinkModeTally } from './thin/link-modes.ts'

/**
 * A node's part in its overlays: what each event does. Its state is in the rooms, such as `neighbours` (who should be and is a
 * neighbour), `flood` (which batches are new, valid, and forwarded), `gaps` (what is missing), and the stream parts.
 */
export class Overlay {
  readonly #rooms: Rooms
  readonly #due: DueTime
  readonly #lives: PartLives
  readonly #arrivals: Arrivals
  readonly #control: ControlPackets

  constructor(options: { self: NodeId; limits: NetworkLimits }, given: OverlayModules) {
    const rooms = (this.#rooms = createRooms(options, given, {
      onFault: (part, error) => this.#lives.failed(part, error),
      onMisbehaviour: () => this.#due.update(),
    }))
    this.#due = new DueTime(rooms)
    this.#lives = new PartLives(options.limits, rooms)
    this.#arrivals = new Arrivals(rooms, this.#due)
    this.#control = new ControlPackets(rooms)
  }

  get counters(): Counters {
    return this.#rooms.counters
  }

  get delegations(): DelegationBook {
    return this.#rooms.delegations
  }

  get streamParts(): StreamPartMap {
    return this.#rooms.parts
  }

  /** Of a node that serves guests. */
  get guests(): Guests | undefined {
    return this.#rooms.guests
  }

  /** Of a light node. */
  get watch(): HostWatch | undefined {
    return this.#rooms.watch
  }

  /** When the next `tick` is due, by the monotonic clock; Infinity for never. */
  get dueMs(): number {
    return this.#due.ms
  }

  /**
   * An error in the work of a stream part ends that work: the stream part begins anew, and nothing is thrown here. What this
   * throws belongs to no stream part, but to the peer of the event, if there is one.
   */
  handle(event: OverlayEvent, time: Time): void {
    const { nowMs, wallMs } = time
    const rooms = this.#rooms
    const { parts, neighbourhood, guests } = rooms
    rooms.time.nowMs = nowMs
    rooms.time.wallMs = wallMs
    switch (event.type) {
      case 'data':
        this.#arrivals.onData(event, time)
        guests?.settle(nowMs)
        return
      case 'urgent':
        this.#arrivals.onUrgent(event, time)
        guests?.settle(nowMs)
        return
      case 'publish':
        this.#arrivals.publish(event, nowMs)
        break
      case 'publisherResolved':
        rooms.flood.resolved(event, event.found, time)
        rooms.urgent.resolved(event, time)
        neighbourhood.userResolved(
          { scope: event.scope, userId: event.publisherId, toRead: false },
          event.found,
          time,
        )
        guests?.userResolved(event.scope, event.found, time)
        break
      case 'readerResolved':
        neighbourhood.userResolved({ ...event, toRead: true }, event.found, time)
        guests?.userResolved(event.scope, event.found, time)
        break
      case 'permissionsChanged':
        neighbourhood.permissionsChanged(event.streamId, time)
        guests?.detached()
        break
      case 'join':
        this.#lives.join(event, nowMs)
        guests?.joined(event.streamPartId, time)
        break
      case 'leave':
        this.#lives.leave(event.streamPartId, nowMs)
        guests?.detached()
        break
      case 'trackerSession':
        parts.withPart(event.streamPartId, (part) => neighbourhood.newSession(part, event.lost, nowMs))
        break
      case 'instruction':
        this.#onInstruction(event, nowMs)
        break
      case 'credentialRenewed':
        neighbourhood.credentialRenewed(event.peerId, time)
        break
      case 'linkOpened':
        rooms.delegations.linkOpened(event.peerId)
        neighbourhood.links.opened(event.peerId, event.attached, nowMs)
        break
      case 'linkFailed':
        neighbourhood.links.failed(event.peerId, event.reason, nowMs)
        break
      case 'useHosts':
        this.#lives.useHosts(event.hosts, nowMs)
        break
      case 'linkClosed':
        neighbourhood.links.closed(event.peerId, nowMs)
        guests?.linkClosed(event.peerId)
        rooms.flood.linkClosed(event.peerId)
        rooms.thinning.linkClosed(event.peerId)
        rooms.urgent.linkClosed(event.peerId)
        rooms.urgentThinning.linkClosed(event.peerId)
        rooms.delegations.linkClosed(event.peerId)
        rooms.fetchServer.linkClosed(event.peerId)
        rooms.latestServer.linkClosed(event.peerId)
        rooms.fetches.linkClosed(event.peerId)
        break
      case 'control':
        this.#control.onControl(event.peerId, event.packet, time)
        break
      case 'archived':
        this.#arrivals.onArchived(event, time)
        break
      case 'archiveEnded':
        parts.withPart(event.gap.streamPartId, (part) => rooms.filler.archiveEnded(part, event.gap, nowMs))
        break
      case 'hold':
        neighbourhood.links.hold(event.peerId, event.contact, nowMs)
        break
      case 'unhold':
        neighbourhood.links.unhold(event.peerId, nowMs)
        break
      case 'partFault':
        this.#lives.failedOutside(event.streamPartId, event.error)
        break
      case 'networkBack':
        neighbourhood.links.networkBack(nowMs)
        break
      case 'unknownAlias':
        drop(rooms, 'data.unknownAlias', `from ${event.peerId}`)
        break
      case 'unsupported':
        drop(rooms, 'data.unsupported', `from ${event.peerId}: ${event.detail}`)
        break
      case 'malformed':
        neighbourhood.links.misbehaved(event.peerId, event.detail, nowMs)
        break
      case 'tick':
        rooms.thinning.tick(time)
        rooms.urgentThinning.tick(time)
        parts.each((part) => this.#tick(part, time))
        neighbourhood.tick(time)
        rooms.flood.tick(nowMs)
        rooms.urgent.tick(nowMs)
        guests?.tick(nowMs)
        rooms.watch?.tick(nowMs)
        break
    }
    guests?.settle(nowMs)
    this.#due.update()
  }

  /** The header of the batches that a neighbour sends with this alias in its place. */
  headerOf(peerId: NodeId, alias: number): Uint8Array | undefined {
    return this.#rooms.thinning.headerOf(peerId, alias)
  }

  /** The attach that a peer may have behind our proof, before it has proven itself; undefined where it is none or waits for the link. */
  firstAttach(part: StreamPart, peerId: NodeId, nowMs: number): Attach | undefined {
    return this.#rooms.neighbourhood.links.firstAttach(part, peerId, nowMs)
  }

  /** Whose signature would be asked for if a neighbour brought this batch now; undefined where none would be. */
  signerOf(peerId: NodeId, batch: MessageBatch): NodeId | undefined {
    const { parts, authorship, urgent, time } = this.#rooms
    const part = parts.ofChain(batch.chain)
    if (part?.takesFrom(peerId, batch.chain.publisherId) !== true) return undefined
    const isToCheck = isUrgentChain(batch.chain)
      ? urgent.isToCheck(part, batch, time.nowMs)
      : part.seen.hasNew(batch)
    return isToCheck ? authorship.signerOf(batch) : undefined
  }

  /** Who is sent all urgent messages of a publisher in a stream part; those who asked for less are not among them. */
  urgentReceivers(streamPartId: StreamPartId, publisherId: NodeId): readonly NodeId[] {
    const { parts, urgentThinning, time } = this.#rooms
    const receivers = parts.get(streamPartId)?.receivers ?? []
    return receivers.filter(
      (peerId) => !urgentThinning.isSpared(peerId, streamPartId, publisherId, time.nowMs),
    )
  }

  /** How the chains whose floods are thinned go over the links to the neighbours. */
  linkModes(nowMs: number): LinkModeTally {
    const modes = new LinkModeTally()
    this.#rooms.thinning.tally(modes, nowMs)
    this.#rooms.urgentThinning.tally(modes, nowMs)
    return modes
  }

  /** True while the message at this place of the chain is missing and may still come. */
  isMissing(streamPartId: StreamPartId, chain: MessageChain, place: MessageRef): boolean {
    return this.#rooms.parts.get(streamPartId)?.seen.find(chain)?.isWanted(place) ?? false
  }

  /** The status of a stream part, when it is joined; the caller sends it. */
  takeStatus(streamPartId: StreamPartId, nowMs: number): Status | undefined {
    const rooms = this.#rooms
    const part = rooms.parts.get(streamPartId)
    if (part === undefined) return undefined
    rooms.counters['status.sent']++
    const status = part.takeStatus(rooms, nowMs)
    rooms.neighbourhood.news.statusTaken(nowMs)
    this.#due.afterStatus(part)
    return status
  }

  #onInstruction({ instruction }: OverlayEvent & { type: 'instruction' }, nowMs: number): void {
    const { parts } = this.#rooms
    const part = parts.get(instruction.streamPartId)
    if (part === undefined) drop(this.#rooms, 'instruction.notJoined', instruction.streamPartId)
    else parts.within(part, () => this.#instruct(part, instruction, nowMs))
  }

  #instruct(part: StreamPart, instruction: Instruction, nowMs: number): void {
    const { self, counters, neighbourhood, effects } = this.#rooms
    if (!part.instruct(instruction, self, nowMs)) {
      drop(this.#rooms, 'instruction.stale', `${instruction.streamPartId} ${instruction.counter}`)
    } else {
      counters['instruction.handled']++
      neighbourhood.instructed(part, nowMs)
      if (part.isAlone && part.attached.length === 0) effects.neighbours(part.id, [])
    }
  }

  #tick(part: StreamPart, time: Time): void {
    const { effects, pursuer, filler } = this.#rooms
    const { nowMs } = time
    if (part.faults.endRest(nowMs)) effects.partRested(part.id)
    part.recent.forgetOld(nowMs)
    part.latest.forgetOld(nowMs)
    if (!part.reads) return
    pursuer.tick(part, time)
    filler.tick(part, nowMs)
  }
}
