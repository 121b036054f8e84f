import { isUrgentChain, type MessageBatch, type NodeId, type Time } from '@runnel/protocol'
import type { Counters } from './counters.ts'
import { drop } from './drop.ts'
import type { DueTime } from './due-time.ts'
import type { OverlayEvent } from './events.ts'
import type { Flood } from './flood/flood.ts'
import type { PeerLinks } from './neighbours/peer-links.ts'
import type { OverlayEffects } from './overlay-effects.ts'
import type { StreamPart } from './stream-part/stream-part.ts'
import type { StreamPartMap } from './stream-part/stream-part-map.ts'
import type { UrgentFlood } from './urgent/urgent-flood.ts'

export interface ArrivalsModules {
  readonly effects: Pick<OverlayEffects, 'dropped'>
  readonly counters: Counters
  readonly parts: StreamPartMap
  readonly flood: Flood
  readonly urgent: UrgentFlood
  readonly neighbourhood: { readonly links: Pick<PeerLinks, 'uselessData'> }
  misbehaved(peerId: NodeId, detail: string, nowMs: number): void
}

type Arrival<Type extends OverlayEvent['type']> = Extract<OverlayEvent, { type: Type }>

/** Batches on their way to the flood of their kind: whether they may come from there, and what becomes of peers that forge. */
export class Arrivals {
  readonly #modules: ArrivalsModules
  readonly #due: DueTime

  constructor(modules: ArrivalsModules, due: DueTime) {
    this.#modules = modules
    this.#due = due
  }

  onData({ peerId, batch, packet }: Arrival<'data'>, time: Time): void {
    const { parts, flood } = this.#modules
    const part = this.#partOf(peerId, batch, time.nowMs)
    if (part === undefined) return
    if (isUrgentChain(batch.chain)) return drop(this.#modules, 'urgent.asData', `from ${peerId}`)
    const outcome = parts.within(part, () => {
      const received = flood.receive(part, batch, packet, peerId, time)
      this.#due.afterData(part)
      return received
    })
    if (outcome === 'handled') return
    if (outcome === 'forged') this.#forged(peerId, batch, time.nowMs)
    else this.#due.update()
  }

  onUrgent(urgent: Arrival<'urgent'>, time: Time): void {
    const { parts, urgent: flood } = this.#modules
    const { peerId, batch } = urgent
    const part = this.#partOf(peerId, batch, time.nowMs)
    if (part === undefined) return
    const outcome = parts.within(part, () => flood.receive(part, urgent, peerId, time))
    this.#due.afterUrgent()
    if (outcome === 'forged') this.#forged(peerId, batch, time.nowMs)
    else if (outcome === undefined) this.#due.update()
  }

  onArchived({ batch, packet }: Arrival<'archived'>, time: Time): void {
    const { parts, flood, counters } = this.#modules
    parts.withPartOf(batch.chain, (part) => {
      if (isUrgentChain(batch.chain)) drop(this.#modules, 'urgent.asData', 'from the archive')
      else if (flood.receive(part, batch, packet, undefined, time) === 'forged') counters['archive.forged']++
    })
  }

  /** This process publishes a batch. */
  publish({ batch, packet }: Arrival<'publish'>, nowMs: number): void {
    const { parts, flood, urgent } = this.#modules
    parts.withPartOf(batch.chain, (part) => {
      if (isUrgentChain(batch.chain)) urgent.publish(part, batch, nowMs)
      else flood.publish(batch, packet, nowMs)
    })
  }

  /** The part of a batch that a peer brought; undefined where it may not come from there. */
  #partOf(peerId: NodeId, { chain, bytes }: MessageBatch, nowMs: number): StreamPart | undefined {
    const { streamId, partition, publisherId } = chain
    const { parts, neighbourhood } = this.#modules
    const part = parts.ofChain(chain)
    if (part?.takesFrom(peerId, publisherId) === true) return part
    const counter = part === undefined ? 'data.notJoined' : 'data.notAttached'
    drop(this.#modules, counter, `${streamId}#${partition} from ${peerId}`)
    // It costs no more than a duplicate of a neighbour. What is dropped of it is noticed as any gap is.
    if (part?.awaitsAttach(peerId) !== true) neighbourhood.links.uselessData(peerId, bytes.length, nowMs)
    return undefined
  }

  #forged(peerId: NodeId, { chain }: MessageBatch, nowMs: number): void {
    this.#modules.misbehaved(peerId, `forged: ${chain.publisherId} did not sign the batch`, nowMs)
  }
}
