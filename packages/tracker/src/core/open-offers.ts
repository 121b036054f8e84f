import {
  canDial,
  commonKinds,
  limits as wireLimits,
  type Contact,
  type NodeId,
  type Signal,
} from '@runnel/protocol'
import type { TrackerLimits } from '../limits.ts'
import type { Counters } from './counters.ts'
import type { NodeRecord } from './node-record.ts'
import type { OpenOffer } from './open-offer.ts'
import type { Outbox } from './outbox.ts'
import type { Signalling } from './signalling.ts'
import type { DelayQueue } from './timing/delay-queue.ts'

export interface OpenOffersModules {
  readonly nodes: ReadonlyMap<NodeId, NodeRecord>
  readonly signalling: Pick<Signalling, 'mayBeLinked'>
  /** The nodes with an open offer, kept or taken, until its time is over. */
  readonly queue: DelayQueue<NodeRecord>
  readonly outbox: Outbox
  readonly counters: Counters
}

type OpenOfferLimits = Pick<TrackerLimits, 'maxOpenOffers' | 'maxOpenCandidates'>

/** Offers that nodes leave here with their join, so that the first new neighbour has one before it is told of the node. */
export class OpenOffers {
  readonly #limits: OpenOfferLimits
  readonly #modules: OpenOffersModules

  constructor(limits: OpenOfferLimits, modules: OpenOffersModules) {
    this.#limits = limits
    this.#modules = modules
  }

  /** Handles a signal that a node addresses to itself. */
  handle(node: NodeRecord, signal: Signal, nowMs: number): void {
    const { openOffer } = node
    if (signal.kind === 'offer') this.#keep(node, signal, nowMs)
    else if (signal.kind === 'answer' || openOffer?.sessionId !== signal.sessionId) this.#ignore()
    else if (openOffer.takenBy !== undefined) this.#passOn(node, openOffer.takenBy, signal)
    else if (signal.kind === 'reject') this.drop(node)
    else this.#add(node, openOffer, signal)
  }

  /** Whether a node has left an offer that nobody has yet. */
  isLeftBy(id: NodeId): boolean {
    return keptBy(this.#modules.nodes.get(id)) !== undefined
  }

  /**
   * Sends the open offer of a node to a neighbour that neither has been told of, and tells the node. False when there is none, or they can
   * connect in another way, or may be linked already, or the node has that neighbour's offer.
   */
  give(from: NodeId, to: NodeId, nowMs: number): boolean {
    const { nodes, signalling, queue, outbox, counters } = this.#modules
    const [node, neighbour] = [nodes.get(from), nodes.get(to)]
    const offer = keptBy(node)
    if (!isThere(node) || !isThere(neighbour) || offer === undefined) return false
    if (neighbour.openOffer?.takenBy === from) return false
    if (!isWebRtcNeeded(node.contact, neighbour.contact) || signalling.mayBeLinked(node, neighbour, nowMs))
      return false
    const { sessionId, signals } = offer
    for (const signal of signals) outbox.send(to, { ...signal, peerId: from })
    outbox.send(from, { type: 'offerTaken', sessionId, peerId: to })
    node.openOffer = { sessionId, signals: [], takenBy: to }
    queue.add(node, nowMs)
    counters.count('openOffersTaken')
    counters.count('signalsRelayed', signals.length)
    return true
  }

  /** The node is gone, or the time of its offer is over. */
  drop(node: NodeRecord): void {
    if (node.openOffer === undefined) return
    if (node.openOffer.takenBy === undefined) this.#modules.counters.count('openOffersDropped')
    node.openOffer = undefined
    this.#modules.queue.delete(node)
  }

  #keep(node: NodeRecord, offer: Signal, nowMs: number): void {
    const { queue, counters } = this.#modules
    this.drop(node)
    counters.count('openOffersLeft')
    node.openOffer = { sessionId: offer.sessionId, signals: [offer], takenBy: undefined }
    queue.add(node, nowMs)
    if (queue.size <= this.#limits.maxOpenOffers) return
    const oldest = queue.takeOldest()
    if (oldest !== undefined) this.drop(oldest)
  }

  #add(node: NodeRecord, offer: OpenOffer, candidate: Signal): void {
    const signals = [...offer.signals, candidate]
    const length = signals.reduce((sum, { payload }) => sum + payload.length, 0)
    if (signals.length > 1 + this.#limits.maxOpenCandidates || length > wireLimits.maxSignalBytes)
      return this.#ignore()
    node.openOffer = { ...offer, signals }
  }

  /** The node does not know yet who has its offer. */
  #passOn(node: NodeRecord, to: NodeId, signal: Signal): void {
    const { nodes, outbox, counters } = this.#modules
    if (signal.kind === 'reject') this.drop(node)
    if (!isThere(nodes.get(to))) return this.#ignore()
    counters.count('signalsRelayed')
    outbox.send(to, { ...signal, peerId: node.nodeId })
  }

  #ignore(): void {
    this.#modules.counters.count('openSignalsIgnored')
  }
}

function keptBy(node: NodeRecord | undefined): OpenOffer | undefined {
  return node?.openOffer?.takenBy === undefined ? node?.openOffer : undefined
}

function isThere(node: NodeRecord | undefined): node is NodeRecord {
  return node !== undefined && node.connected && !node.refused
}

/** Whether there is no direct way between the two but WebRTC, which `from` dials. Circuits are for when it fails. */
function isWebRtcNeeded(from: Contact | undefined, to: Contact | undefined): boolean {
  if (from === undefined || to === undefined || !canDial(from, to, 'webrtc')) return false
  return commonKinds(from, to).every((kind) => kind === 'webrtc' || kind === 'circuit')
}
