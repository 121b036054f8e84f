import type { Packet } from './packet-table.ts'

/** A packet as the vectors show it: a batch in it as its bytes, whose meaning the vectors of batches tell. */
export function packetToJson(packet: Packet): unknown {
  return toPlainJson('batch' in packet ? { ...packet, batch: packet.batch?.bytes } : packet)
}

/** A value as the vectors show it: bytes as `{ "hex": … }`, undefined as null, all else as JSON has it. */
export function toPlainJson(value: unknown): unknown {
  if (value === undefined) return null
  if (value instanceof Uint8Array) return { hex: toHex(value) }
  if (Array.isArray(value)) return value.map(toPlainJson)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, toPlainJson(field)]))
  }
  return value
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

export function fromHex(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) =>
    Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16),
  )
}
