import {
  decodePacket,
  encodePacket,
  type Clock,
  type MessageBatch,
  type NodeId,
  type TraceHeader,
} from '@runnel/protocol'
import { LinkClocks } from './link-clocks.ts'
import { ageAt, arrived, tracedPacket, type Travel } from './travel.ts'

export interface TracerModules {
  readonly clock: Pick<Clock, 'monotonicMs' | 'endOfTurn'>
  send(peerId: NodeId, packet: Uint8Array): void
  rttOf(peerId: NodeId): number | undefined
}

interface Traced {
  readonly batch: MessageBatch
  readonly travel: Travel
}

/**
 * Measures how old batches are and how many links they have taken, wherever they waited: in the core, in the cache for replays,
 * in a queue. Batches are identified by the object that holds their packet, so nothing is kept longer than they are. Ages grow
 * from node to node by what the link took, as in the thesis (section 5.4.3), but by the measured offset of the two ends'
 * clocks: differences of wall clocks would cancel out along the way and leave the difference between the publisher's and the
 * receiver's (docs/decisions/015-tracing.md).
 */
export class Tracer {
  readonly #modules: TracerModules
  readonly #clocks: LinkClocks
  readonly #traced = new WeakMap<Uint8Array, Traced>()
  readonly #travels = new WeakMap<MessageBatch, Travel>()

  constructor(modules: TracerModules) {
    this.#modules = modules
    this.#clocks = new LinkClocks({
      ask: (peerId, token) => modules.send(peerId, encodePacket({ type: 'clockAsk', token })),
    })
  }

  /** Links whose other end's clock is known well. */
  get knownClocks(): number {
    return this.#clocks.known
  }

  linkOpened(peerId: NodeId): void {
    this.#clocks.linkOpened(peerId, this.#nowMs)
  }

  linkClosed(peerId: NodeId): void {
    this.#clocks.linkClosed(peerId)
  }

  published(batch: MessageBatch, packet: Uint8Array): void {
    this.#remember(batch, packet, { hops: 0, ageMs: 0, atMs: this.#nowMs })
  }

  received(peerId: NodeId, trace: TraceHeader, batch: MessageBatch, packet: Uint8Array): void {
    const nowMs = this.#nowMs
    const offsetMs = this.#clocks.offsetMs(peerId)
    const onLinkMs =
      offsetMs === undefined ? (this.#modules.rttOf(peerId) ?? 0) / 2 : nowMs + offsetMs - trace.sentUs / 1000
    this.#remember(batch, packet, arrived(trace, onLinkMs, nowMs))
    // Measuring must not delay what is measured: the batch goes first.
    if (this.#clocks.isStale(peerId, nowMs))
      this.#modules.clock.endOfTurn(() => this.#clocks.askAgain(peerId, this.#nowMs))
  }

  /** The packet to send in place of a data packet. */
  outgoing(packet: Uint8Array): Uint8Array {
    const traced = this.#traced.get(packet)
    return (traced && tracedPacket(traced.batch, traced.travel, this.#nowMs)) ?? packet
  }

  /** Hops and age of a batch that came with a trace, or was published here. */
  travelOf(batch: MessageBatch): { readonly hops: number; readonly ageMs: number } | undefined {
    const travel = this.#travels.get(batch)
    return travel && { hops: travel.hops, ageMs: ageAt(travel, this.#nowMs) }
  }

  /** A clock request or answer. Throws what decoding throws. */
  handleClock(peerId: NodeId, type: number, body: Uint8Array): void {
    const packet = decodePacket(type, body)
    const nowMs = this.#nowMs
    if (packet.type === 'clockTell') this.#clocks.told(peerId, packet, nowMs)
    else if (packet.type === 'clockAsk') {
      const answer = encodePacket({ type: 'clockTell', token: packet.token, atUs: Math.round(nowMs * 1000) })
      this.#modules.send(peerId, answer)
    }
  }

  #remember(batch: MessageBatch, packet: Uint8Array, travel: Travel): void {
    this.#traced.set(packet, { batch, travel })
    this.#travels.set(batch, travel)
  }

  get #nowMs(): number {
    return this.#modules.clock.monotonicMs()
  }
}
