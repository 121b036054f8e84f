import {
  encodePacket,
  OpenQuestions,
  questionKey,
  shortPacket,
  type Attach,
  type Contact,
  type ControlPacket,
  type NodeId,
  type PublisherPolicy,
  type ReaderPolicy,
} from '@runnel/protocol'
import type { LinksOwner, SendMode, Transport } from '@runnel/transport'
import type { Counters } from '../core/counters.ts'
import type { NodeEffect, Owner } from '../core/effects.ts'
import type { NodeEvent } from '../core/events.ts'
import type { HostAddress } from '../ports.ts'
import type { Tracer } from '../trace/tracer.ts'
import type { ArchiveRequests } from './archive-requests.ts'
import type { DirectLinks } from './direct-links.ts'
import type { Faults } from './faults.ts'
import type { LatestQuestions } from './latest-questions.ts'
import type { Listeners } from './listeners.ts'
import type { CountQuestions } from './count-questions.ts'
import type { StorageSearch } from './storage-search.ts'
import type { OpenOffers } from './open-offers.ts'
import type { TrackerConnections } from './tracker-connections.ts'
import type { Waiters } from './waiters.ts'

export interface EffectRunnerModules {
  readonly links: LinksOwner
  readonly transports: readonly Transport[]
  readonly trackers: TrackerConnections
  readonly openOffers: Pick<OpenOffers, 'send' | 'taken' | 'closed'>
  readonly listeners: Listeners
  readonly waiters: Waiters
  readonly archive: ArchiveRequests
  readonly storage: StorageSearch
  readonly counts: CountQuestions
  readonly latest: LatestQuestions
  readonly direct: Pick<DirectLinks, 'failed'>
  readonly tracer: Tracer | undefined
  readonly faults: Faults
  readonly counters: Counters
  /** Limit for opening one link. */
  readonly dialTimeoutMs: number
  readonly publisherPolicy: PublisherPolicy
  readonly readerPolicy?: ReaderPolicy | undefined
  contact(): Contact
  /** What the peer may have before it has proven itself. */
  firstAttach(peerId: NodeId): Attach | undefined
  dispatch(event: NodeEvent): void
  endOfTurn(callback: () => void): void
}

/** Carries out the effects of a node core: on links, on tracker connections, and for listeners. */
export class EffectRunner {
  readonly #modules: EffectRunnerModules
  readonly #publisherQuestions = new OpenQuestions()
  readonly #readerQuestions = new OpenQuestions()

  constructor(modules: EffectRunnerModules) {
    this.#modules = modules
  }

  /** Never throws: an error while carrying out an effect is a fault of the effect's owner. */
  run(effect: NodeEffect): void {
    try {
      this.#carryOut(effect)
    } catch (error) {
      this.#fault(ownerOf(effect), error)
      if (effect.type !== 'connect') return
      this.#modules.dispatch({ type: 'linkFailed', peerId: effect.peerId, reason: 'unreachable' })
      this.#modules.direct.failed(effect.peerId, error)
    }
  }

  #carryOut(effect: NodeEffect): void {
    const { links, listeners, trackers, transports } = this.#modules
    switch (effect.type) {
      case 'sendData':
        return this.#sendData(effect)
      case 'sendUrgent':
        if (!links.sendUrgent(effect.peerId, effect.message)) this.#modules.counters['urgent.unsupported']++
        return
      case 'deliver':
        return listeners.emit('message', effect.delivery)
      case 'accepted': {
        const { streamPartId, batch } = effect
        return listeners.emit('batch', streamPartId, batch, this.#modules.tracer?.travelOf(batch))
      }
      case 'duplicate':
        return listeners.emit('duplicate', effect.streamPartId, effect.batch)
      case 'sendControl':
        return this.#sendControl(effect.peerId, effect.packet, effect.mayLose)
      case 'connect':
        return this.#connect(effect)
      case 'disconnect':
        return links.disconnect(effect.peerId, effect.code, effect.text)
      case 'latest':
        return this.#modules.latest.answered(effect.peerId, effect.packet)
      case 'neighbours':
        listeners.emit('neighbours', effect.streamPartId, effect.neighbours)
        return this.#modules.waiters.check()
      case 'fillFromArchive':
        return this.#modules.archive.fill(effect.gap)
      case 'gapLost':
        return listeners.emit('gap', effect.gap)
      case 'equivocation':
        return listeners.emit('equivocation', effect.equivocation)
      case 'resolvePublisher':
        return this.#resolvePublisher(effect)
      case 'resolveReader':
        return this.#resolveReader(effect)
      case 'guestPart':
        return listeners.emit('guestPart', effect.streamPartId, effect.isWanted)
      case 'findHost':
        return this.#findHost(effect.host)
      case 'host':
        return listeners.emit('host', effect.news)
      case 'withheld':
        return listeners.emit('withheld', effect.withheld)
      case 'dialTracker':
        return trackers.dial(effect.way)
      case 'hangUpTracker':
        return this.#hangUpTracker(effect)
      case 'sendToTracker':
        return this.#modules.openOffers.send(effect.way, effect.packet)
      case 'offerTaken':
        return this.#modules.openOffers.taken(effect.way, effect.packet)
      case 'introduce':
        return trackers.introduce(effect.way, this.#modules.contact())
      case 'takeSignal':
        for (const transport of transports) transport.handleSignal?.(effect.signal)
        return
      case 'setIceServers':
        for (const transport of transports) transport.setIceServers?.(effect.servers)
        return
      case 'count':
        return this.#modules.counts.answered(effect.trackerId, effect.packet)
      case 'storageFound':
        return this.#modules.storage.found(effect.requestId, effect.nodes)
      case 'awaitTurnEnd':
        return this.#modules.endOfTurn(() => this.#modules.dispatch({ type: 'turnEnded' }))
      case 'dropped':
        return listeners.emit('dropped', effect.counter, effect.detail)
      case 'fault':
        return this.#modules.faults.report(effect.owner, effect.error)
    }
  }

  /** Whom no tracker told to connect too, it may not have named either: nothing is said before such a peer is proven. */
  #connect({ peerId, contact, alone, again }: NodeEffect & { type: 'connect' }): void {
    const first = (): Uint8Array | undefined => {
      const packet = this.#modules.firstAttach(peerId)
      return packet === undefined ? undefined : encodePacket(packet)
    }
    this.#modules.links.connect(peerId, contact, { alone, again, first: alone ? undefined : first })
  }

  #findHost({ url, nodeId: expected }: HostAddress): void {
    const { links, dispatch, dialTimeoutMs } = this.#modules
    links.find({
      ...{ url, peerId: expected, timeoutMs: dialTimeoutMs },
      onFound: (peerId) => dispatch({ type: 'hostFound', url, peerId }),
      onFail: (error) => dispatch({ type: 'hostFailed', url, error }),
    })
  }

  #sendData({ peerId, packet, short, mayLose }: NodeEffect & { type: 'sendData' }): void {
    const outgoing = this.#modules.tracer?.outgoing(packet) ?? packet
    const packetSent = short === undefined ? outgoing : shortPacket(outgoing, short)
    this.#send(peerId, packetSent, mayLose ? 'mayLose' : 'ordinary')
  }

  #sendControl(peerId: NodeId, packet: ControlPacket, mayLose: boolean): void {
    let bytes: Uint8Array
    try {
      bytes = encodePacket(packet)
    } catch (error) {
      // The fault is not the peer's.
      return this.#fault('streamPartId' in packet ? { streamPartId: packet.streamPartId } : {}, error)
    }
    this.#send(peerId, bytes, mayLose ? 'mayLose' : isOfEdge(packet) ? 'kept' : 'ordinary')
  }

  #send(peerId: NodeId, packet: Uint8Array, mode: SendMode): void {
    const { links, counters, listeners } = this.#modules
    if (links.send(peerId, packet, mode)) return
    counters['send.refused']++
    listeners.emit('dropped', 'send.refused', `${packet.length} bytes to ${peerId}`)
  }

  #resolvePublisher(effect: NodeEffect & { type: 'resolvePublisher' }): void {
    const { scope, publisherId, delegation, from } = effect
    const resolve = () => this.#modules.publisherPolicy.resolve(scope, publisherId, from, delegation)
    const key = questionKey(scope, publisherId, from, delegation)
    this.#publisherQuestions.ask(key, resolve, (found) => {
      this.#modules.dispatch({ type: 'publisherResolved', scope, publisherId, delegation, found })
    })
  }

  #resolveReader({ scope, userId, delegation, from }: NodeEffect & { type: 'resolveReader' }): void {
    const resolve = async () => this.#modules.readerPolicy?.resolve(scope, userId, from, delegation)
    const key = questionKey(scope, userId, from, delegation)
    this.#readerQuestions.ask(key, resolve, (found) => {
      this.#modules.dispatch({ type: 'readerResolved', scope, userId, found })
    })
  }

  #hangUpTracker({ way }: NodeEffect & { type: 'hangUpTracker' }): void {
    const { trackers, openOffers, listeners } = this.#modules
    openOffers.closed(way)
    if (trackers.hangUp(way) && trackers.waysTo(way.trackerId).length === 0)
      listeners.emit('tracker', way.trackerId, 'disconnected')
  }

  #fault(owner: Owner, error: unknown): void {
    const { streamPartId } = owner
    if (streamPartId === undefined) this.#modules.faults.report(owner, error)
    else this.#modules.dispatch({ type: 'partFault', streamPartId, error })
  }
}

/** Which neighbours two nodes are to each other: where one end never learns of it, it sends to a node that wants nothing, or waits in vain. */
const isOfEdge = ({ type }: ControlPacket): boolean => type === 'attach' || type === 'detach'

/** The owner of the fault when carrying out an effect throws. */
function ownerOf(effect: NodeEffect): Owner {
  if (effect.type === 'sendToTracker' && 'streamPartId' in effect.packet)
    return { streamPartId: effect.packet.streamPartId }
  if ('way' in effect) return { way: effect.way }
  if ('peerId' in effect) return { peerId: effect.peerId }
  return 'streamPartId' in effect ? { streamPartId: effect.streamPartId } : {}
}
