import { decodePacket, packetKind, PacketType, type DirectPacket, type NodeId } from '@runnel/protocol'
import type { NodeEvent } from '../core/events.ts'
import type { Tracer } from '../trace/tracer.ts'
import { eventOfPacket, type EventOptions } from './node-packets.ts'

export interface IncomingPacketsModules {
  readonly tracer: Tracer | undefined
  /** With the bytes of the packet that the event is of. */
  dispatch(event: NodeEvent, bytes: number): void
  /** Whether what is dispatched now is handled later. */
  isWaiting(): boolean
  headerOf(peerId: NodeId, alias: number): Uint8Array | undefined
  onDirect(peerId: NodeId, packet: DirectPacket): void
  /** A packet of a later version of the protocol. */
  onUnknown(peerId: NodeId, type: number): void
}

/** Dispatches each packet of a link. */
export class IncomingPackets {
  readonly #modules: IncomingPacketsModules
  readonly #options: EventOptions

  constructor(modules: IncomingPacketsModules) {
    this.#modules = modules
    this.#options = {
      onTraced: (trace, { peerId, batch, packet }) => modules.tracer?.received(peerId, trace, batch, packet),
      headerOf: (peerId, alias) => modules.headerOf(peerId, alias),
    }
  }

  take(peerId: NodeId, type: number, body: Uint8Array, whole: Uint8Array): void {
    const { dispatch, onUnknown } = this.#modules
    switch (packetKind(type)?.scope) {
      case 'neighbours':
      case 'delegations':
        return this.#dispatch(this.#eventOf(peerId, type, body, whole), whole.length)
      case 'toStorage':
      case 'fromStorage':
        return this.#onDirect(peerId, type, body)
      case 'clocks':
        return this.#onClock(peerId, type, body)
      case undefined:
        return onUnknown(peerId, type)
      default:
        dispatch({ type: 'malformed', peerId, detail: `a packet of type ${type} between nodes` }, 0)
    }
  }

  /** With an alias in place of its header a packet is smaller than what is kept of it. */
  #dispatch(event: NodeEvent, bytes: number): void {
    this.#modules.dispatch(event, event.type === 'data' ? event.packet.length : bytes)
  }

  #eventOf(peerId: NodeId, type: number, body: Uint8Array, whole: Uint8Array): NodeEvent {
    // The views are valid only during this call; of a batch the event has a copy anyway.
    const kept = type !== PacketType.data && this.#modules.isWaiting() ? body.slice() : body
    return eventOfPacket(peerId, type, kept, whole, this.#options)
  }

  /** A node that does not measure has nothing to say about clocks. */
  #onClock(peerId: NodeId, type: number, body: Uint8Array): void {
    try {
      this.#modules.tracer?.handleClock(peerId, type, body)
    } catch (error) {
      this.#malformed(peerId, error)
    }
  }

  #onDirect(peerId: NodeId, type: number, body: Uint8Array): void {
    let packet: DirectPacket
    try {
      // It is kept longer than the frame that it came in.
      packet = decodePacket(type, body.slice()) as DirectPacket
    } catch (error) {
      this.#malformed(peerId, error)
      return
    }
    this.#modules.onDirect(peerId, packet)
  }

  #malformed(peerId: NodeId, error: unknown): void {
    const detail = error instanceof Error ? error.message : String(error)
    this.#modules.dispatch({ type: 'malformed', peerId, detail }, 0)
  }
}
