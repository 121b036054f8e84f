import {
  decodeBatch,
  decodePacket,
  isRunnelError,
  packetBytes,
  PacketType,
  readTraced,
  wholeBatch,
  type ControlPacket,
  type MessageBatch,
  type NodeId,
  type TraceHeader,
  type Urgent,
} from '@runnel/protocol'
import type { NodeEvent } from '../core/events.ts'

/** Told of traced batches before the core is. */
type OnTraced = (trace: TraceHeader, event: NodeEvent & { type: 'data' }) => void

export interface EventOptions {
  readonly onTraced?: OnTraced
  /** The header of the batches that a neighbour sends with an alias in its place. */
  readonly headerOf?: (peerId: NodeId, alias: number) => Uint8Array | undefined
}

/** The packet that carries a batch, and the batch as a view of it. Throws what decoding throws. */
export function dataPacket(batchBytes: Uint8Array): {
  readonly packet: Uint8Array
  readonly batch: MessageBatch
} {
  const packet = packetBytes(PacketType.data, batchBytes)
  return { packet, batch: decodeBatch(packet.subarray(packet.length - batchBytes.length)) }
}

/** Turns a neighbour's packet into an event of the core. Never throws: invalid bytes become `malformed`. */
export function eventOfPacket(
  peerId: NodeId,
  type: number,
  body: Uint8Array,
  whole: Uint8Array,
  { onTraced, headerOf }: EventOptions = {},
): NodeEvent {
  const restored = (bytes: Uint8Array) => wholeBatch(bytes, (alias) => headerOf?.(peerId, alias))
  try {
    if (type === PacketType.data) {
      const batchBytes = restored(body)
      if (batchBytes === undefined) return { type: 'unknownAlias', peerId }
      if (batchBytes !== body) return { type: 'data', peerId, ...dataPacket(batchBytes) }
      // The views are valid only during this call, but new batches are kept, forwarded and delivered.
      const packet = whole.slice()
      return { type: 'data', peerId, batch: decodeBatch(packet.subarray(whole.length - body.length)), packet }
    }
    if (type === PacketType.traced) {
      const { trace, batchBytes: bytes } = readTraced(body)
      const batchBytes = restored(bytes)
      if (batchBytes === undefined) return { type: 'unknownAlias', peerId }
      const event = { type: 'data', peerId, ...dataPacket(batchBytes) } as const
      onTraced?.(trace, event)
      return event
    }
    if (type === PacketType.urgent) {
      const { remainingMs, batch } = decodePacket(type, body.slice()) as Urgent
      return { type: 'urgent', peerId, remainingMs, batch }
    }
    return { type: 'control', peerId, packet: decodePacket(type, body) as ControlPacket }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return { type: isRunnelError(error, 'UNSUPPORTED_VERSION') ? 'unsupported' : 'malformed', peerId, detail }
  }
}
