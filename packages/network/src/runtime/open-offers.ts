import {
  openOffersCapability,
  type Cancel,
  type Clock,
  type NodeId,
  type NodeToTracker,
  type OfferTaken,
} from '@runnel/protocol'
import type { OpenOffer, OpenSignal, Transport } from '@runnel/transport'
import type { Way } from '../core/tracker-link/way.ts'
import type { NetworkLimits } from '../limits.ts'
import type { TrackerConnections } from './tracker-connections.ts'

export interface OpenOffersModules {
  readonly self: NodeId
  readonly clock: Clock
  readonly transports: readonly Transport[]
  readonly trackers: Pick<TrackerConnections, 'send' | 'hasCapability' | 'hasSpoken' | 'rttMs'>
  isLinked(peerId: NodeId): boolean
  /** A tracker says that an offer went to a neighbour, and there is no such offer. */
  unexpected(trackerId: NodeId): void
}

type Limits = Pick<NetworkLimits, 'openOfferMs' | 'offerWaitMs' | 'minOfferRttMs'>

/** An offer that is made, or was left. */
interface Current {
  readonly way: Way
  readonly offer: OpenOffer
  /** The join that waits for it, and what is to be sent about stream parts after that: the neighbour may be one in several. Undefined once it was left. */
  waiting: NodeToTracker[] | undefined
  /** Ends the time in which it is to be left, or then taken. */
  cancel: Cancel
}

/**
 * A node that only signalling reaches leaves an offer with the tracker just before it joins a stream part, and the tracker hands it to the first
 * neighbour that it chooses: so that neighbour has the offer as soon as it knows of this node, instead of two ways later. One offer at a time, as
 * the first link is what a newcomer waits for.
 */
export class OpenOffers {
  readonly #limits: Limits
  readonly #modules: OpenOffersModules
  #current: Current | undefined

  constructor(limits: Limits, modules: OpenOffersModules) {
    this.#limits = limits
    this.#modules = modules
  }

  /** Sends a packet to a tracker: a join behind an offer, where that gains something. */
  send(way: Way, packet: NodeToTracker): void {
    const current = this.#current
    if (current?.way.key === way.key && current.waiting !== undefined && 'streamPartId' in packet)
      current.waiting.push(packet)
    else if (!isJoin(packet) || !this.#mayOffer(way) || !this.#offer(way, packet))
      this.#modules.trackers.send(way, packet)
  }

  /** The offer went to a neighbour. */
  taken(way: Way, { sessionId, peerId }: OfferTaken): void {
    const current = this.#current
    if (current === undefined || current.offer.sessionId !== sessionId || current.way.key !== way.key) {
      this.#modules.unexpected(way.trackerId)
      return this.#refuse(way, sessionId, peerId)
    }
    // The tracker passes it on that the offer is withdrawn.
    if (this.#modules.isLinked(peerId)) return this.#withdraw()
    current.offer.taken(peerId)
    this.#release(current)
    this.#forget(current)
  }

  /** The connection to a tracker has ended. */
  closed(way: Way): void {
    if (this.#current?.way.key === way.key) this.#withdraw()
  }

  stop(): void {
    if (this.#current !== undefined) this.#current.waiting = undefined
    this.#withdraw()
  }

  /**
   * Not near the tracker, where it would save nothing; nor before the tracker can have named ICE servers; nor while another transport can be dialled,
   * as the link may be one of that.
   */
  #mayOffer(way: Way): boolean {
    const { transports, trackers } = this.#modules
    if (this.#current !== undefined) return false
    if (!trackers.hasCapability(way, openOffersCapability) || !trackers.hasSpoken(way)) return false
    if (transports.some((transport) => !signals(transport) && transport.addresses.length > 0)) return false
    return (trackers.rttMs(way.trackerId) ?? 0) >= this.#limits.minOfferRttMs
  }

  /** False when there can be no offer now. */
  #offer(way: Way, join: NodeToTracker): boolean {
    const { clock, transports, trackers } = this.#modules
    const rttMs = trackers.rttMs(way.trackerId)
    const offer = transports.find(signals)?.offerOpenly?.({
      signalDelayMs: rttMs === undefined ? undefined : rttMs / 2,
      send: (signal) => this.#signal(way, signal),
    })
    if (offer === undefined) return false
    const cancel = clock.schedule(this.#limits.offerWaitMs, () => this.#withdraw())
    this.#current = { way, offer, waiting: [join], cancel }
    return true
  }

  /** The first is the offer, or says that there will be none. */
  #signal(way: Way, signal: OpenSignal): boolean {
    const peerId = this.#modules.self
    const isSent = this.#modules.trackers.send(way, { type: 'signal', peerId, ...signal })
    const current = this.#current
    if (current?.waiting === undefined) return isSent
    this.#release(current)
    current.cancel()
    current.cancel = this.#modules.clock.schedule(this.#limits.openOfferMs, () => this.#withdraw())
    return isSent
  }

  #release(current: Current): void {
    const { way, waiting = [] } = current
    current.waiting = undefined
    for (const packet of waiting) this.#modules.trackers.send(way, packet)
  }

  #withdraw(): void {
    const current = this.#current
    if (current === undefined) return
    this.#forget(current)
    current.offer.withdraw()
    this.#release(current)
  }

  #forget({ cancel }: Current): void {
    cancel()
    this.#current = undefined
  }

  /** So that the neighbour does not wait for the rest. */
  #refuse(way: Way, sessionId: number, peerId: NodeId): void {
    this.#modules.trackers.send(way, { type: 'signal', peerId, sessionId, kind: 'reject', payload: 'UNUSED' })
  }
}

const signals = (transport: Transport): boolean => transport.offerOpenly !== undefined

/** The first status of a stream part. */
const isJoin = (packet: NodeToTracker): boolean =>
  packet.type === 'status' && packet.counter === 0 && packet.neighbours.length === 0
