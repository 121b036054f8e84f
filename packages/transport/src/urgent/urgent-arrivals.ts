import { readPackets, readUrgentParts, urgentPacket, type Piece, type RawPacket } from '@runnel/protocol'
import { KnownAliases } from './header-aliases.ts'
import type { UrgentLimits } from './limits.ts'
import { PieceAssembler } from './piece-assembler.ts'

interface UrgentArrivalsModules {
  /** A packet of an urgent message, whole. */
  deliver(packet: RawPacket): void
  /** A message of which not all came that it takes to read it. */
  truncated(): void
}

/** Puts together what comes of the urgent messages of a peer. */
export class UrgentArrivals {
  readonly #modules: UrgentArrivalsModules
  readonly #assembler: PieceAssembler
  readonly #aliases: KnownAliases

  constructor(
    limits: Pick<UrgentLimits, 'maxPiecesBytes' | 'maxIncompleteObjects' | 'maxUrgentAliases'>,
    modules: UrgentArrivalsModules,
  ) {
    this.#modules = modules
    this.#assembler = new PieceAssembler(limits, modules)
    this.#aliases = new KnownAliases(limits.maxUrgentAliases)
  }

  /** When `forgetLate` is due; Infinity for never. */
  get dueMs(): number {
    return this.#assembler.dueMs
  }

  /** Throws MALFORMED_PACKET and LIMIT_EXCEEDED. */
  onUrgent(body: Uint8Array): void {
    const parts = readUrgentParts(body)
    const batchBytes = this.#aliases.batchOf(parts)
    if (batchBytes === undefined) this.#modules.truncated()
    else this.#deliver(parts.remainingMs, batchBytes)
  }

  onPiece(piece: Piece, nowMs: number): void {
    const assembled = this.#assembler.push(piece, nowMs)
    if (assembled !== undefined) this.#deliver(assembled.remainingMs, assembled.batchBytes)
  }

  forgetLate(nowMs: number): void {
    this.#assembler.forgetLate(nowMs)
  }

  #deliver(remainingMs: number, batchBytes: Uint8Array): void {
    const [packet] = readPackets(urgentPacket(remainingMs, batchBytes))
    if (packet !== undefined) this.#modules.deliver(packet)
  }
}
