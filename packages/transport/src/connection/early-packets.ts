import type { RawPacket } from '@runnel/protocol'
import { transportError } from '../errors.ts'

/** Packets that came before the owner of a connection had its turn to set `events`. */
export class EarlyPackets {
  readonly #maxBytes: number
  #packets: RawPacket[] | undefined = []
  #bytes = 0

  constructor(limits: { readonly maxEarlyBytes: number }) {
    this.#maxBytes = limits.maxEarlyBytes
  }

  /** Whether the owner has yet to have its turn. */
  get areKept(): boolean {
    return this.#packets !== undefined
  }

  /** Copies a packet. Throws PROTOCOL_VIOLATION beyond the limit. */
  keep(type: number, body: Uint8Array, whole: Uint8Array): void {
    this.#bytes += whole.length
    if (this.#bytes > this.#maxBytes)
      throw transportError('PROTOCOL_VIOLATION', `more than ${this.#maxBytes} bytes at once`)
    const copy = whole.slice()
    this.#packets?.push({ type, body: copy.subarray(whole.length - body.length), whole: copy })
  }

  /** All of them; from now on none is early. */
  release(): readonly RawPacket[] {
    const packets = this.#packets ?? []
    this.#packets = undefined
    return packets
  }
}
