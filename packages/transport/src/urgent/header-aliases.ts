import { dropOldest, type UrgentMessage, type UrgentParts } from '@runnel/protocol'

interface Alias {
  readonly number: number
  isKnown: boolean
}

/** How a message names its header. */
export interface HeaderName {
  /** 0 for none. */
  readonly alias: number
  /** Whether the receiver has it. */
  readonly isKnown: boolean
}

const noName: HeaderName = { alias: 0, isKnown: false }

/**
 * The numbers that stand for the headers of chains in what this end of a link sends. A number is never used for another header, so that what
 * comes late is not misread; and only the newest are used, as the receiver keeps those.
 */
export class SentAliases {
  readonly #maxAliases: number
  /** By chain, the oldest first. */
  readonly #aliases = new Map<string, Alias>()
  #number = 0

  constructor(maxAliases: number) {
    this.#maxAliases = maxAliases
  }

  nameOf({ chain, headerBytes }: Pick<UrgentMessage, 'chain' | 'headerBytes'>): HeaderName {
    if (headerBytes === 0) return noName
    let alias = this.#aliases.get(chain)
    if (alias === undefined) {
      if (this.#number === 0xffff_ffff) return noName
      this.#aliases.set(chain, (alias = { number: ++this.#number, isKnown: false }))
      dropOldest(this.#aliases, this.#maxAliases)
    }
    return { alias: alias.number, isKnown: alias.isKnown }
  }

  /** A frame that defines it arrived. */
  arrived(number: number): void {
    for (const alias of this.#aliases.values()) if (alias.number === number) alias.isKnown = true
  }
}

/** The headers that the numbers of the peer stand for. */
export class KnownAliases {
  readonly #maxAliases: number
  readonly #headers = new Map<number, Uint8Array>()
  #newest = 0

  constructor(maxAliases: number) {
    this.#maxAliases = maxAliases
  }

  get size(): number {
    return this.#headers.size
  }

  /** The whole batch; undefined where its header is not known. */
  batchOf({ alias, headerBytes, bytes }: UrgentParts): Uint8Array | undefined {
    if (alias === 0) return bytes
    if (headerBytes > 0) {
      this.#define(alias, bytes.slice(0, headerBytes))
      return bytes
    }
    const header = this.#headers.get(alias)
    if (header === undefined) return undefined
    const batchBytes = new Uint8Array(header.length + bytes.length)
    batchBytes.set(header)
    batchBytes.set(bytes, header.length)
    return batchBytes
  }

  #define(alias: number, header: Uint8Array): void {
    // What stands for one header stands for no other.
    if (alias + this.#maxAliases <= this.#newest || this.#headers.has(alias)) return
    this.#headers.set(alias, header)
    this.#newest = Math.max(this.#newest, alias)
    if (this.#headers.size <= this.#maxAliases) return
    for (const older of this.#headers.keys())
      if (older + this.#maxAliases <= this.#newest) this.#headers.delete(older)
  }
}
