import {
  aliasedUrgentPacket,
  decodePacket,
  encodePacket,
  PacketType,
  readPackets,
  readUrgentParts,
  type Piece,
  type RawPacket,
} from '@runnel/protocol'

/** How often a packet is repeated, even if lost each time; a receiver that denies its arrival gets no more. */
const maxRepeats = 3

/** A packet of an urgent message that may be lost on its way. */
export interface Repeatable {
  readonly packet: Uint8Array
  /** The alias that it defines; 0 for none. */
  readonly alias: number
  /** When its message is worth nothing any more. */
  readonly deadlineMs: number
  readonly priority: number
  /** How often it was sent before. */
  readonly repeats: number
}

/**
 * Packets of urgent messages that were lost and go again, what comes first at the front, while their time lasts. The same packet with less time
 * left: the receiver puts a piece to the others of its object, whichever way it came.
 */
export class Repeats {
  readonly #maxPackets: number
  #waiting: Repeatable[] = []

  constructor(maxPackets: number) {
    this.#maxPackets = maxPackets
  }

  get size(): number {
    return this.#waiting.length
  }

  add(lost: readonly Repeatable[]): void {
    const wanted = lost.filter(({ repeats }) => repeats < maxRepeats)
    if (wanted.length === 0) return
    this.#waiting = [...this.#waiting, ...wanted]
      .sort((a, b) => a.priority - b.priority || a.deadlineMs - b.deadlineMs)
      .slice(0, this.#maxPackets)
  }

  /** Takes the one that goes before what has that priority, if there is one that arrives before `arrivesMs` is too late for it. */
  takeBefore(priority: number, arrivesMs: number): Repeatable | undefined {
    this.#waiting = this.#waiting.filter(({ deadlineMs }) => deadlineMs - arrivesMs >= 1)
    const [first] = this.#waiting
    if (first === undefined || first.priority > priority) return undefined
    this.#waiting.shift()
    return { ...first, packet: withRemaining(first, arrivesMs), repeats: first.repeats + 1 }
  }
}

function withRemaining({ packet, deadlineMs }: Repeatable, arrivesMs: number): Uint8Array {
  const remainingMs = Math.floor(deadlineMs - arrivesMs)
  const [{ type, body }] = readPackets(packet) as [RawPacket]
  if (type === PacketType.urgent) return aliasedUrgentPacket({ ...readUrgentParts(body), remainingMs })
  return encodePacket({ ...(decodePacket(type, body) as Piece), remainingMs })
}
