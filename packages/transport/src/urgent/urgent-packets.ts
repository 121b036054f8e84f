import { aliasedUrgentPacket, encodePacket, limits, type UrgentMessage } from '@runnel/protocol'
import { SentAliases } from './header-aliases.ts'

/** How much of an object was sent in pieces. */
interface Progress {
  readonly object: number
  readonly pieceBytes: number
  index: number
}

/** What of a message goes next. */
export interface NextPacket {
  readonly packet: Uint8Array
  /** The alias that it defines; 0 for none. */
  readonly alias: number
  /** Nothing of the message follows. */
  readonly isLast: boolean
}

/** Makes packets of urgent messages: one of each, or pieces of what is larger; with an alias for the header once the peer knows it. */
export class UrgentPackets {
  readonly #aliases: SentAliases
  readonly #progress = new WeakMap<UrgentMessage, Progress>()
  #objects = 0

  constructor({ maxUrgentAliases }: { readonly maxUrgentAliases: number }) {
    this.#aliases = new SentAliases(maxUrgentAliases)
  }

  /** In pieces of so many bytes, unless those were too many. */
  next(message: UrgentMessage, remainingMs: number, pieceBytes: number): NextPacket {
    const progress = this.#progressOf(message, pieceBytes)
    if (progress === undefined) return this.#whole(message, remainingMs)
    const next = piece(message.batchBytes, remainingMs, progress)
    // Who lost it asks for it: it is then sent again, from the beginning.
    if (next.isLast) this.#progress.delete(message)
    return next
  }

  /** A frame that defines it arrived. */
  aliasArrived(alias: number): void {
    this.#aliases.arrived(alias)
  }

  #whole(message: UrgentMessage, remainingMs: number): NextPacket {
    const { batchBytes, headerBytes } = message
    const { alias, isKnown } = this.#aliases.nameOf(message)
    const parts = isKnown
      ? { headerBytes: 0, bytes: batchBytes.subarray(headerBytes) }
      : { headerBytes, bytes: batchBytes }
    const packet = aliasedUrgentPacket({ remainingMs, alias, ...parts })
    return { packet, alias: isKnown ? 0 : alias, isLast: true }
  }

  /** Undefined for what is sent as it is. */
  #progressOf(message: UrgentMessage, pieceBytes: number): Progress | undefined {
    const known = this.#progress.get(message)
    const { length } = message.batchBytes
    if (known !== undefined || length <= pieceBytes) return known
    this.#objects = (this.#objects + 1) >>> 0
    const enoughBytes = Math.max(pieceBytes, Math.ceil(length / limits.maxPieces))
    const progress = { object: this.#objects, pieceBytes: enoughBytes, index: 0 }
    this.#progress.set(message, progress)
    return progress
  }
}

function piece(batchBytes: Uint8Array, remainingMs: number, progress: Progress): NextPacket {
  const { object, index, pieceBytes } = progress
  const count = Math.ceil(batchBytes.length / pieceBytes)
  const bytes = batchBytes.subarray(index * pieceBytes, (index + 1) * pieceBytes)
  const packet = encodePacket({ type: 'piece', object, index, count, remainingMs, bytes })
  progress.index++
  return { packet, alias: 0, isLast: progress.index === count }
}
