import {
  sameContact,
  type Cancel,
  type Clock,
  type NodeId,
  type RunnelError,
  type UrgentMessage,
} from '@runnel/protocol'
import type { CloseReason, Connection, SendMode, Transport } from '../ports.ts'
import type { UrgentDrop } from '../urgent/urgent-queue.ts'
import { userOf } from './admission-problem.ts'
import { Attempt, type AttemptOptions } from './attempt.ts'
import type { LinksSettings } from './links-options.ts'
import { isNewOneUsed, type Contender } from './settle.ts'
import { duplicate, Spares } from './spares.ts'

export interface PeerLinkOptions {
  readonly peerId: NodeId
  readonly settings: LinksSettings
}

export interface PeerLinkModules {
  readonly clock: Clock
  readonly transports: ReadonlyMap<string, Transport>
  /** Why there may be no link with whoever is at the other end. */
  refusalOf(connection: Connection): RunnelError | undefined
}

/** What happens to links; one object for those of all peers. */
export interface PeerLinkEvents {
  onOpened(peerId: NodeId, connection: Connection): void
  /** A connection that this side has dialled has opened, and is to be added to the link. */
  onDialled(connection: Connection): void
  /** A second connection with the peer has opened. */
  onDuplicate(peerId: NodeId): void
  /** Another connection is used from now on; the link has stayed open. */
  onReplaced(peerId: NodeId, connection: Connection): void
  onClosed(peerId: NodeId, reason: CloseReason): void
  /** The link has closed, as `onClosed` said, but this other connection with the peer is left, and may be a new link. */
  onLeftOver(connection: Connection): void
  onFailed(peerId: NodeId, error: RunnelError): void
  onPacket(peerId: NodeId, type: number, body: Uint8Array, whole: Uint8Array): void
  onDrain(peerId: NodeId): void
  onCredential(peerId: NodeId, connection: Connection): void
  onUrgentDropped(peerId: NodeId, why: UrgentDrop | 'truncated', message?: UrgentMessage): void
  onUrgentRepeated(peerId: NodeId): void
  onUrgentRate(peerId: NodeId): void
  /** From now on this side has a use for the link. */
  onClaimed(peerId: NodeId): void
  onFallback(peerId: NodeId): void
  /** There is nothing left to remember of this link. By then the peer may have another one: whoever heard that it closed may have begun it. */
  onIdle(peerId: NodeId, link: PeerLink): void
}

const nothing: Cancel = () => {}

interface Held extends Contender {
  readonly connection: Connection
}

/**
 * Everything about the link with one peer: at most one attempt, one connection in use, and some on their way out.
 *
 * When both sides have dialled, both choose the same one of the two connections (settle.ts), but not at the same instant. So
 * each keeps reading the other one until nothing is under way on it any more, and only then the side with the lower id closes it: nothing is lost,
 * and nobody sees the link closed. When the connection in use breaks, what was sent on it may be lost: the link has closed, and the other one is a
 * new link.
 */
export class PeerLink {
  readonly #options: PeerLinkOptions
  readonly #modules: PeerLinkModules
  readonly #events: PeerLinkEvents
  #attempt: Attempt | undefined
  #used: Held | undefined
  readonly #spares: Spares
  #cancelGrace: Cancel = nothing
  #claimed = false

  constructor(options: PeerLinkOptions, modules: PeerLinkModules, events: PeerLinkEvents) {
    this.#options = options
    this.#modules = modules
    this.#events = events
    const { peerId, settings } = options
    const { duplicateLingerMs, maxDuplicateMs } = settings
    this.#spares = new Spares(
      { lingerMs: duplicateLingerMs * (settings.self < peerId ? 1 : 3), maxDuplicateMs },
      { clock: modules.clock, used: () => this.#used?.connection },
    )
  }

  get isOpen(): boolean {
    return this.#used !== undefined
  }

  /** The attempt in which this side waits for the peer; undefined where there is none. */
  get awaited(): AttemptOptions | undefined {
    const options = this.#attempt?.options
    return options?.ways[0]?.role === 'wait' ? options : undefined
  }

  /** Whether this side has asked for the link, or sent something on it. */
  get isClaimed(): boolean {
    return this.#claimed
  }

  /** Whether the peer acted for another user when the link opened than it does at the end of this connection. */
  isOfOtherUser(connection: Connection): boolean {
    return this.#used !== undefined && userOf(this.#used.connection) !== userOf(connection)
  }

  /** `isAnew`: instead of the attempt under way. */
  connect(options: Pick<AttemptOptions, 'ways' | 'contact' | 'first'>, isAnew: boolean): void {
    this.#claim()
    if (this.#used) return
    const waits = this.awaited !== undefined && options.ways[0]?.role === 'dial'
    if (this.#attempt && !waits && !isAnew && sameContact(this.#attempt.options.contact, options.contact)) {
      this.#attempt.wanted = true
      return
    }
    this.#attempt?.cancel()
    const { peerId, settings } = this.#options
    const attempt = new Attempt({ peerId, settings, ...options }, this.#modules, {
      onOpen: (connection) => {
        this.#attempt = undefined
        const refusal = this.#modules.refusalOf(connection)
        if (refusal === undefined) return this.#events.onDialled(connection)
        connection.close(refusal.code, refusal.message)
        if (attempt.wanted) this.#failed(refusal)
        this.#checkIdle()
      },
      onFail: (error) => {
        this.#attempt = undefined
        if (attempt.wanted) this.#failed(error)
        this.#checkIdle()
      },
      onFallback: () => this.#events.onFallback(peerId),
    })
    this.#attempt = attempt
    attempt.start()
  }

  /** Counts as sending something on it. */
  keep(): void {
    if (this.#used && !this.#claimed) this.#claim()
  }

  disconnect(code: string, text: string): void {
    this.#cancelAttempt()
    const wasOpen = this.isOpen
    if (this.#used) closeUnheard(this.#used.connection, code, text)
    this.#used = undefined
    for (const spare of this.#spares.takeAll()) closeUnheard(spare, code, text)
    this.#claimed = false
    if (wasOpen) this.#closed({ code, text, remote: false })
    this.#checkIdle()
  }

  send(packet: Uint8Array, mode?: SendMode): boolean {
    if (!this.#used) return false
    if (!this.#claimed) this.#claim()
    return this.#used.connection.send(packet, mode)
  }

  sendUrgent(message: UrgentMessage): boolean {
    if (!this.#used) return false
    if (!this.#claimed) this.#claim()
    return this.#used.connection.sendUrgent(message)
  }

  /** As `add`, of a connection that this side asked for. */
  adopt(connection: Connection): void {
    this.#claim()
    this.add(connection)
  }

  /** A connection to the peer, dialled by either side, has opened, and for the same user as the one in use. */
  add(connection: Connection): void {
    const { peerId, settings } = this.#options
    const opened = {
      connection,
      direction: connection.direction,
      openedMs: this.#modules.clock.monotonicMs(),
    }
    connection.events = {
      onPacket: (type, body, whole) => this.#events.onPacket(peerId, type, body, whole),
      onDrain: () => this.#used === opened && this.#events.onDrain(peerId),
      onCredential: () => this.#used === opened && this.#events.onCredential(peerId, connection),
      onUrgentDropped: (why, message) => this.#events.onUrgentDropped(peerId, why, message),
      onUrgentRepeated: () => this.#events.onUrgentRepeated(peerId),
      onUrgentRate: () => this.#used === opened && this.#events.onUrgentRate(peerId),
      onClose: (reason) => this.#connectionClosed(opened, reason),
    }
    if (!this.#used) return this.#open(opened)
    this.#events.onDuplicate(peerId)
    const ids = { self: settings.self, peer: peerId, raceWindowMs: settings.dialTimeoutMs }
    if (!isNewOneUsed(ids, this.#used, opened)) return this.#spares.add(connection)
    const before = this.#used
    this.#used = opened
    this.#spares.add(before.connection)
    this.#replaced(opened)
  }

  /** Closes the link with UNUSED after a while, unless it is claimed. */
  allowGrace(onUnused: () => void): void {
    this.#cancelGrace = this.#modules.clock.schedule(this.#options.settings.unsolicitedGraceMs, () => {
      onUnused()
      this.disconnect('UNUSED', '')
    })
  }

  #claim(): void {
    if (!this.#claimed) this.#events.onClaimed(this.#options.peerId)
    this.#claimed = true
    this.#cancelGrace()
  }

  #open(opened: Held): void {
    this.#used = opened
    if (this.#attempt?.isDialling) {
      this.#attempt.wanted = false
    } else {
      this.#cancelAttempt()
    }
    this.#events.onOpened(this.#options.peerId, opened.connection)
  }

  /** The new connection has a queue of its own, so whoever waits for room may go on. */
  #replaced({ connection }: Held): void {
    const { peerId } = this.#options
    this.#events.onReplaced(peerId, connection)
    this.#events.onDrain(peerId)
  }

  #connectionClosed(held: Held, reason: CloseReason): void {
    this.#spares.delete(held.connection)
    if (held !== this.#used) return
    const spares = this.#spares.takeAll()
    this.#used = undefined
    if (this.#attempt?.wanted === false) this.#cancelAttempt()
    this.#closed(reason)
    for (const spare of spares) this.#leave(spare, reason)
    this.#checkIdle()
  }

  /** A peer that said why it closes the connection in use has ended the link, and with it all its connections. */
  #leave(connection: Connection, { remote, code, text }: CloseReason): void {
    // What it said first was for the link that has closed.
    connection.saidFirst = undefined
    if (!remote || code === duplicate) return this.#events.onLeftOver(connection)
    closeUnheard(connection, code, text)
  }

  #closed(reason: CloseReason): void {
    this.#claimed = false
    this.#cancelGrace()
    this.#events.onClosed(this.#options.peerId, reason)
  }

  #failed(error: RunnelError): void {
    this.#claimed = false
    this.#events.onFailed(this.#options.peerId, error)
  }

  #cancelAttempt(): void {
    this.#attempt?.cancel()
    this.#attempt = undefined
  }

  #checkIdle(): void {
    if (!this.#used && !this.#attempt) this.#events.onIdle(this.#options.peerId, this)
  }
}

/** Closes a connection whose end, and whatever comes until then, nobody is told of. */
function closeUnheard(connection: Connection, code: string, text: string): void {
  connection.events = { onPacket() {}, onDrain() {}, onClose() {} }
  connection.close(code, text)
}
