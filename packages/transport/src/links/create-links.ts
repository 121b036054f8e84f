import type { Cancel, Contact, NodeId, RunnelError, UrgentMessage } from '@runnel/protocol'
import { transportError } from '../errors.ts'
import type { Connection, FindRequest, LinkEvents, Links, SendMode, Transport } from '../ports.ts'
import { admissionProblem, listingProblem } from './admission-problem.ts'
import { EventQueue } from './event-queue.ts'
import { IdleLinks } from './idle-links.ts'
import { planWays } from './link-plan.ts'
import {
  linksDefaults,
  type LinksCounters,
  type LinksModules,
  type LinksOptions,
  type LinksSettings,
} from './links-options.ts'
import { PeerLink, type PeerLinkEvents, type PeerLinkModules } from './peer-link.ts'

export interface LinksOwner extends Links {
  readonly counters: Readonly<LinksCounters>
  /**
   * Closes every link with SHUTTING_DOWN, gives up every attempt and refuses what comes. Whoever owns the transports
   * starts and stops them.
   */
  stop(): void
}

/** The one owner of who is connected, over the given transports. Sets their `onInbound`. */
export function createLinks(options: LinksOptions, modules: LinksModules): LinksOwner {
  return new LinksOverTransports(options, modules)
}

class LinksOverTransports implements LinksOwner {
  events: LinkEvents = { onOpened() {}, onClosed() {}, onFailed() {}, onPacket() {}, onDrain() {} }
  readonly peers = new Map<NodeId, Connection>()
  readonly counters: LinksCounters = {
    opened: 0,
    closed: 0,
    failed: 0,
    fallbacks: 0,
    duplicates: 0,
    unsolicitedEvicted: 0,
    unsolicitedUnused: 0,
    notListed: 0,
  }
  readonly #settings: LinksSettings
  readonly #modules: LinksModules
  readonly #transports: ReadonlyMap<string, Transport>
  readonly #links = new Map<NodeId, PeerLink>()
  readonly #linkModules: PeerLinkModules
  readonly #linkEvents = this.#eventsOfLinks()
  /** Those that are idle, by the network of whoever opened them. */
  readonly #idle: IdleLinks
  readonly #queue: EventQueue
  readonly #unwatchAdmission: () => void
  #stopped = false

  constructor(options: LinksOptions, modules: LinksModules) {
    this.#settings = { ...linksDefaults, ...options }
    this.#modules = modules
    this.#queue = new EventQueue(modules)
    this.#idle = new IdleLinks(this.#settings.maxUnsolicited)
    this.#transports = new Map(modules.transports.map((transport) => [transport.kind, transport]))
    this.#linkModules = {
      clock: modules.clock,
      transports: this.#transports,
      refusalOf: (connection) => this.#refusalOf(connection),
    }
    for (const transport of modules.transports) {
      transport.onInbound = (connection) => this.#inbound(connection)
      transport.onInboundFailed = (peerId) => this.#waitedInVain(peerId)
    }
    this.#unwatchAdmission = modules.admission?.onChange(() => this.#closeUnlisted()) ?? (() => {})
  }

  connect(
    peerId: NodeId,
    peerContact: Contact,
    { alone = false, again = false, first }: Parameters<Links['connect']>[2] = {},
  ): void {
    if (this.#stopped || peerId === this.#settings.self) return
    const isAnew = (kind: string) => again && this.#transports.get(kind)?.handleSignal !== undefined
    const ways = planWays({
      self: this.#settings.self,
      contact: this.#settings.contact(),
      transports: this.#transports,
      peer: peerId,
      peerContact,
      alone,
      roleIn: (kind) => (isAnew(kind) ? 'dial' : this.#transports.get(kind)?.roleWith?.(peerId)),
    })
    const attempt = { ways, contact: peerContact, first }
    this.#queue.during(() => this.#link(peerId).connect(attempt, isAnew(ways[0]?.kind ?? '')))
  }

  /** It may be this side's turn to dial, now that the peer, whose offer came first, does so no longer. */
  #waitedInVain(peerId: NodeId): void {
    const attempt = this.#links.get(peerId)?.awaited
    if (attempt !== undefined) this.connect(peerId, attempt.contact, { first: attempt.first })
  }

  find({ url, peerId, timeoutMs, onFound, onFail }: FindRequest): Cancel {
    const transport = this.#modules.transports.find((candidate) => candidate.canDial(url))
    if (transport === undefined)
      return this.#modules.clock.schedule(0, () =>
        onFail(transportError('DIAL_FAILED', `no transport here dials ${url}`)),
      )
    const onOpen = (connection: Connection): void => {
      const refusal = this.#refusalOf(connection)
      if (!this.#stopped && refusal === undefined) {
        onFound(connection.peerId)
        return this.#linkFor(connection).adopt(connection)
      }
      const error = refusal ?? transportError('SHUTTING_DOWN')
      connection.close(error.code, error.message)
      onFail(error)
    }
    return transport.dial({ peerId, url, timeoutMs, onOpen, onFail })
  }

  keep(peerId: NodeId): void {
    this.#links.get(peerId)?.keep()
  }

  disconnect(peerId: NodeId, code: string, text: string): void {
    this.#queue.during(() => this.#links.get(peerId)?.disconnect(code, text))
  }

  send(peerId: NodeId, packet: Uint8Array, mode?: SendMode): boolean {
    const link = this.#links.get(peerId)
    return link !== undefined && this.#queue.during(() => link.send(packet, mode))
  }

  sendUrgent(peerId: NodeId, message: UrgentMessage): boolean {
    const link = this.#links.get(peerId)
    return link !== undefined && this.#queue.during(() => link.sendUrgent(message))
  }

  stop(): void {
    this.#stopped = true
    this.#unwatchAdmission()
    for (const peerId of [...this.#links.keys()]) this.disconnect(peerId, 'SHUTTING_DOWN', '')
  }

  #inbound(connection: Connection): void {
    const { peerId } = connection
    if (this.#stopped) return connection.close('SHUTTING_DOWN', '')
    const refusal = this.#refusalOf(connection)
    if (refusal !== undefined) return connection.close(refusal.code, refusal.message)
    const link = this.#linkFor(connection)
    const isUnsolicited = !link.isClaimed && !link.isOpen
    if (isUnsolicited) link.allowGrace(() => this.counters.unsolicitedUnused++)
    link.add(connection)
    if (isUnsolicited && link.isOpen && !link.isClaimed)
      this.#makeRoom(this.#idle.add(peerId, connection.remoteAddress))
  }

  #makeRoom(idle: readonly NodeId[]): void {
    for (const peerId of idle) {
      this.counters.unsolicitedEvicted++
      this.disconnect(peerId, 'TOO_MANY_CONNECTIONS', 'nobody here uses it')
    }
  }

  /** Why there may be no link with whoever is at the other end; counted. */
  #refusalOf(connection: Connection): RunnelError | undefined {
    const refusal = admissionProblem(connection, this.peers.values(), this.#modules.admission)
    if (refusal !== undefined) this.counters.notListed++
    return refusal
  }

  #closeUnlisted(): void {
    for (const [peerId, connection] of [...this.peers]) {
      const refusal = listingProblem(connection, this.#modules.admission)
      if (refusal === undefined) continue
      this.counters.notListed++
      this.disconnect(peerId, refusal.code, refusal.message)
    }
  }

  #link(peerId: NodeId): PeerLink {
    const known = this.#links.get(peerId)
    if (known) return known
    const link = new PeerLink({ peerId, settings: this.#settings }, this.#linkModules, this.#linkEvents)
    this.#links.set(peerId, link)
    return link
  }

  /** A peer that acts for somebody else than before is another one to everybody here: the link with it ends, and this is a new one. */
  #linkFor(connection: Connection): PeerLink {
    const { peerId } = connection
    const known = this.#links.get(peerId)
    if (known?.isOfOtherUser(connection))
      known.disconnect('REPLACED', 'the peer connected again, for another user')
    return this.#link(peerId)
  }

  #eventsOfLinks(): PeerLinkEvents {
    const emit = (event: () => void) => this.#queue.emit(event)
    return {
      onOpened: (peerId, connection) => {
        this.peers.set(peerId, connection)
        this.counters.opened++
        emit(() => this.events.onOpened(peerId, connection))
      },
      onReplaced: (peerId, connection) => {
        this.peers.set(peerId, connection)
      },
      onDialled: (connection) => this.#linkFor(connection).adopt(connection),
      onDuplicate: () => this.counters.duplicates++,
      onClosed: (peerId, reason) => {
        this.peers.delete(peerId)
        this.#idle.delete(peerId)
        this.counters.closed++
        emit(() => this.events.onClosed(peerId, reason))
      },
      onLeftOver: (connection) => this.#inbound(connection),
      onFailed: (peerId, error) => {
        this.counters.failed++
        emit(() => this.events.onFailed(peerId, error))
      },
      onPacket: (peerId, type, body, whole) => {
        this.#idle.touch(peerId)
        emit(() => this.events.onPacket(peerId, type, body, whole))
      },
      onClaimed: (peerId) => this.#idle.delete(peerId),
      onDrain: (peerId) => emit(() => this.events.onDrain(peerId)),
      onCredential: (peerId, connection) => {
        const refusal = this.#refusalOf(connection)
        if (refusal !== undefined) this.disconnect(peerId, refusal.code, refusal.message)
        else emit(() => this.events.onCredential?.(peerId))
      },
      onUrgentDropped: (peerId, why, message) =>
        emit(() => this.events.onUrgentDropped?.(peerId, why, message)),
      onUrgentRepeated: (peerId) => emit(() => this.events.onUrgentRepeated?.(peerId)),
      onUrgentRate: (peerId) => emit(() => this.events.onUrgentRate?.(peerId)),
      onFallback: () => this.counters.fallbacks++,
      onIdle: (peerId, link) => {
        if (this.#links.get(peerId) === link) this.#links.delete(peerId)
      },
    }
  }
}
