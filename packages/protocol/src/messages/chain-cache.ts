import type { MessageChain } from './stream-message.ts'

interface Entry {
  readonly header: Uint8Array
  readonly chain: MessageChain
}

/** Message chains remembered for decoding; a chain that falls into a taken slot replaces the one there. */
const slots = 256

/**
 * The chains of headers seen lately: a relay decodes the same header over and over, and gets the same object for it.
 * Each header has one of 256 places, so that the cache is bounded, and a hostile header costs at most another's place.
 */
export class ChainCache {
  readonly #entries: (Entry | undefined)[] = new Array<Entry | undefined>(slots).fill(undefined)

  /** The chain whose header is at `bytes[0..]`; whether it ends there need not be known. */
  get(bytes: Uint8Array): Entry | undefined {
    const entry = this.#entries[slotOf(bytes)]
    if (entry === undefined || entry.header.length > bytes.length) return undefined
    for (let i = entry.header.length - 1; i >= 0; i--) if (entry.header[i] !== bytes[i]) return undefined
    return entry
  }

  /** Remembers a copy of the header. */
  put(header: Uint8Array, chain: MessageChain): void {
    this.#entries[slotOf(header)] = { header: header.slice(), chain }
  }
}

/** Mixes bytes all over the header; where it ends is not known yet, but its stream id's length is in its second byte. */
function slotOf(bytes: Uint8Array): number {
  const publisherAt = 3 + (bytes[1] ?? 0)
  let hash = 0
  for (let i = publisherAt - 6; i < publisherAt + 22; i++) hash = (Math.imul(hash, 31) + (bytes[i] ?? 0)) | 0
  return (hash ^ (hash >>> 8) ^ (hash >>> 16)) & (slots - 1)
}
