import type { Piece } from '@runnel/protocol'
import type { UrgentLimits } from './limits.ts'

interface Incomplete {
  readonly pieces: (Uint8Array | undefined)[]
  missing: number
  bytes: number
  deadlineMs: number
}

/** A batch whose pieces have all come. */
export interface Assembled {
  readonly remainingMs: number
  readonly batchBytes: Uint8Array
}

/** Completed objects remembered: one of their pieces may come again. */
const maxWhole = 128

type PieceAssemblerLimits = Pick<UrgentLimits, 'maxPiecesBytes' | 'maxIncompleteObjects'>

interface PieceAssemblerModules {
  /** Something of an object did not come in time, or there was no room for it. */
  truncated(): void
}

/** Puts the pieces of one peer's objects together, in whatever order they come. */
export class PieceAssembler {
  readonly #limits: PieceAssemblerLimits
  readonly #modules: PieceAssemblerModules
  readonly #objects = new Map<number, Incomplete>()
  /** The oldest first. */
  readonly #whole = new Set<number>()
  #bytes = 0

  constructor(limits: PieceAssemblerLimits, modules: PieceAssemblerModules) {
    this.#limits = limits
    this.#modules = modules
  }

  get bytes(): number {
    return this.#bytes
  }

  /** When the first object is late; Infinity for never. */
  get dueMs(): number {
    return Math.min(...[...this.#objects.values()].map(({ deadlineMs }) => deadlineMs))
  }

  /** Returns the batch with its last piece. A piece that does not fit to the others of its object ends that. */
  push({ object, index, count, remainingMs, bytes }: Piece, nowMs: number): Assembled | undefined {
    this.forgetLate(nowMs)
    if (this.#whole.has(object)) return undefined
    const known = this.#objects.get(object)
    if (known !== undefined && known.pieces.length !== count) {
      this.#drop(object)
      return undefined
    }
    const incomplete = known ?? newObject(count)
    if (incomplete.pieces[index] !== undefined) return undefined
    this.#objects.set(object, incomplete)
    // The piece is a view of its frame.
    incomplete.pieces[index] = bytes.slice()
    incomplete.missing--
    incomplete.bytes += bytes.length
    incomplete.deadlineMs = Math.min(incomplete.deadlineMs, nowMs + remainingMs)
    this.#bytes += bytes.length
    if (incomplete.missing === 0) return this.#complete(object, incomplete, nowMs)
    this.#makeRoom()
    return undefined
  }

  forgetLate(nowMs: number): void {
    for (const [object, { deadlineMs }] of this.#objects) if (deadlineMs <= nowMs) this.#drop(object)
  }

  #complete(object: number, { pieces, bytes, deadlineMs }: Incomplete, nowMs: number): Assembled {
    this.#forget(object)
    this.#whole.add(object)
    const [oldest] = this.#whole
    if (this.#whole.size > maxWhole && oldest !== undefined) this.#whole.delete(oldest)
    const batchBytes = new Uint8Array(bytes)
    let offset = 0
    for (const piece of pieces as Uint8Array[]) {
      batchBytes.set(piece, offset)
      offset += piece.length
    }
    return { remainingMs: Math.max(0, Math.floor(deadlineMs - nowMs)), batchBytes }
  }

  #makeRoom(): void {
    const { maxPiecesBytes, maxIncompleteObjects } = this.#limits
    for (const object of this.#objects.keys()) {
      if (this.#bytes <= maxPiecesBytes && this.#objects.size <= maxIncompleteObjects) return
      this.#drop(object)
    }
  }

  #drop(object: number): void {
    this.#forget(object)
    this.#modules.truncated()
  }

  #forget(object: number): void {
    this.#bytes -= this.#objects.get(object)?.bytes ?? 0
    this.#objects.delete(object)
  }
}

function newObject(count: number): Incomplete {
  const pieces = Array.from<Uint8Array | undefined>({ length: count })
  return { pieces, missing: count, bytes: 0, deadlineMs: Infinity }
}
