import { forEachPacket } from '@runnel/protocol'
import { systemClock, type SystemClock } from '@runnel/protocol/system'

export const inflowLimits = {
  /** How long arrived frames are handled in one go; then the page gets a turn to draw and to answer its user. */
  maxTurnMs: 8,
  /**
   * Bytes that may wait for their turn, about 1 s of signature checks. Above it nothing is dropped: frames are handled at
   * once and the page is delayed instead.
   */
  maxWaitingBytes: 1024 * 1024,
}

/** Frames are cut into pieces of whole packets, each of at least this size: a handful of signature checks. */
const minPieceBytes = 512
/** Approximate overhead of a piece beyond its bytes. */
const pieceOverheadBytes = 128

type InflowClock = Pick<SystemClock, 'monotonicMs' | 'endOfTurn' | 'catchUp'>

interface Piece {
  readonly bytes: number
  readonly run: () => void
}

/**
 * The queue for what the channels of a page receive, in order of arrival. A frame may hold hundreds of packets, and a page that
 * handled them all in one task could not draw meanwhile; so after `maxTurnMs` the rest waits for the next turn.
 */
export class Inflow {
  readonly #limits: typeof inflowLimits
  readonly #clock: InflowClock
  readonly #waiting: Piece[] = []
  #waitingBytes = 0
  #planned = false

  constructor(limits: Partial<typeof inflowLimits>, modules: { clock: InflowClock }) {
    this.#limits = { ...inflowLimits, ...limits }
    this.#clock = modules.clock
  }

  /** Hands on a frame, possibly as several that together hold the same packets: at once, or after what waits. */
  receive(frame: Uint8Array, onFrame: (frame: Uint8Array) => void): void {
    for (const piece of piecesOf(frame)) this.#wait({ bytes: piece.length, run: () => onFrame(piece) })
    this.#inTurn()
    this.#clock.catchUp()
  }

  /** Runs after everything that came before. */
  andThen(run: () => void): void {
    this.#wait({ bytes: 0, run })
    this.#inTurn()
  }

  #wait(piece: Piece): void {
    this.#waiting.push(piece)
    this.#waitingBytes += piece.bytes + pieceOverheadBytes
  }

  #inTurn(): void {
    if (!this.#planned || this.#waitingBytes > this.#limits.maxWaitingBytes) this.#turn()
  }

  #turn(): void {
    const { maxTurnMs, maxWaitingBytes } = this.#limits
    const endsMs = this.#clock.monotonicMs() + maxTurnMs
    for (let piece = this.#waiting.shift(); piece; piece = this.#waiting.shift()) {
      this.#waitingBytes -= piece.bytes + pieceOverheadBytes
      piece.run()
      if (this.#waitingBytes <= maxWaitingBytes && this.#clock.monotonicMs() >= endsMs) break
    }
    if (this.#waiting.length === 0 || this.#planned) return
    this.#planned = true
    this.#clock.endOfTurn(() => {
      this.#planned = false
      this.#turn()
    })
  }
}

/** A reader of the pieces finds the same packets, and the same fault, as in the frame. */
function piecesOf(frame: Uint8Array): Uint8Array[] {
  if (frame.length <= minPieceBytes) return [frame]
  const pieces: Uint8Array[] = []
  let [start, end] = [0, 0]
  const cut = (): void => {
    pieces.push(frame.subarray(start, end))
    start = end
  }
  try {
    forEachPacket(frame, (_type, _body, { length }) => {
      end += length
      if (end - start >= minPieceBytes) cut()
    })
  } catch {
    end = frame.length
  }
  if (start < end) cut()
  return pieces
}

/** One for all channels, as a page has one event loop. */
export const pageInflow = new Inflow({}, { clock: systemClock })
