import { encodePacket, maxPacketBytes, maxTraceBytes, type MessageBatch } from '@runnel/protocol'

/** How far a batch has travelled, and its age at one moment of this process's monotonic clock. */
export interface Travel {
  /** Links it has taken to get here; 0 for what was published here. */
  readonly hops: number
  readonly ageMs: number
  readonly atMs: number
}

/** The hop count saturates here. */
const maxHops = 0xffff

/** In a form that can be sent: a neighbour may report any age. */
const toUs = (ms: number): number => Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.round(ms * 1000)))

/** The age at a later moment. */
export function ageAt({ ageMs, atMs }: Travel, nowMs: number): number {
  return ageMs + (nowMs - atMs)
}

/** The packet that carries a batch one link further, sent at `nowMs`; undefined where there is no room for the trace. */
export function tracedPacket(batch: MessageBatch, travel: Travel, nowMs: number): Uint8Array | undefined {
  if (batch.bytes.length + 2 * maxTraceBytes > maxPacketBytes) return undefined
  const { hops } = travel
  return encodePacket({ type: 'traced', hops, ageUs: toUs(ageAt(travel, nowMs)), sentUs: toUs(nowMs), batch })
}

/** The position of a batch that took `onLinkMs` for its last link. */
export function arrived(
  sent: { readonly hops: number; readonly ageUs: number },
  onLinkMs: number,
  nowMs: number,
): Travel {
  return {
    hops: Math.min(maxHops, sent.hops + 1),
    ageMs: sent.ageUs / 1000 + Math.max(0, onLinkMs),
    atMs: nowMs,
  }
}
