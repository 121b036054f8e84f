import {
  decodeBatch,
  decodePacket,
  isRunnelError,
  packetBytes,
  PacketType,
  readTraced,
  type ControlPacket,
  type MessageBatch,
  type NodeId,
  type TraceHeader,
} from '@runnel/protocol'
import type { NodeEvent } from '../core/events.ts'

/** What hears of traced batches before the core does. */
export type OnTraced = (trace: TraceHeader, event: NodeEvent & { type: 'data' }) => void

/** The packet that a batch travels in, and the batch as a view of it. Throws what decoding throws. */
export function dataPacket(batchBytes: Uint8Array): {
  readonly packet: Uint8Array
  readonly batch: MessageBatch
} {
  const packet = packetBytes(PacketType.data, batchBytes)
  return { packet, batch: decodeBatch(packet.subarray(packet.length - batchBytes.length)) }
}

/** What a packet of a neighbour's is to the core. Never throws: bytes nobody should send become `malformed`. */
export function eventOfPacket(
  peerId: NodeId,
  type: number,
  body: Uint8Array,
  whole: Uint8Array,
  onTraced?: OnTraced,
): NodeEvent {
  try {
    if (type === PacketType.data) {
      // The views die with this call, but what is new is kept, forwarded and delivered.
      const packet = whole.slice()
      return { type: 'data', peerId, batch: decodeBatch(packet.subarray(whole.length - body.length)), packet }
    }
    if (type === PacketType.traced) {
      const { trace, batchBytes } = readTraced(body)
      const event = { type: 'data', peerId, ...dataPacket(batchBytes) } as const
      onTraced?.(trace, event)
      return event
    }
    return { type: 'control', peerId, packet: decodePacket(type, body) as ControlPacket }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return { type: isRunnelError(error, 'UNSUPPORTED_VERSION') ? 'unsupported' : 'malformed', peerId, detail }
  }
}
