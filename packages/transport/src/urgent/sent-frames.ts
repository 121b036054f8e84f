import type { Arrivals } from '@runnel/protocol'
import type { ArrivedFrame } from './rate-control.ts'

interface SentFrame {
  readonly sentMs: number
  readonly bytes: number
  /** Of other packets than urgent ones. They are not lost, and may wait where urgent ones do not. */
  readonly isOther: boolean
  /** The alias that it defines; 0 for none. */
  readonly alias: number
}

interface Watched extends SentFrame {
  passedOver: number
  isWrittenOff: boolean
}

/** What became of frames, by one report of their receiver. */
export interface FrameReport {
  readonly arrived: readonly ArrivedFrame[]
  /** Aliases that the receiver knows from now on. */
  readonly aliases: readonly number[]
  readonly lost: number
  /** Undefined where no urgent frame is among those that arrived. */
  readonly rttMs: number | undefined
}

/** Every arrival is told twice: what three reports pass over is lost. */
const reportsUntilLost = 3

/** The frames of a link that carry a mark and are under way. */
export class SentFrames {
  readonly #maxFrames: number
  readonly #frames = new Map<number, Watched>()
  #number = 0
  #bytes = 0

  constructor(maxFrames: number) {
    this.#maxFrames = maxFrames
  }

  /** Bytes of urgent frames that may be under way. */
  get bytes(): number {
    return this.#bytes
  }

  /** Returns the number of the frame. */
  add(frame: SentFrame): number {
    this.#number = (this.#number + 1) >>> 0
    this.#frames.set(this.#number, { ...frame, passedOver: 0, isWrittenOff: frame.isOther })
    if (!frame.isOther) this.#bytes += frame.bytes
    const [oldest] = this.#frames.keys()
    if (this.#frames.size > this.#maxFrames && oldest !== undefined) this.#remove(oldest)
    return this.#number
  }

  /** What it tells of frames that are not under way says nothing. */
  report({ frames, heldTenthsMs }: Arrivals, nowMs: number): FrameReport {
    const arrived: ArrivedFrame[] = []
    const aliases: number[] = []
    for (const { number, atTenthsMs } of frames) {
      const frame = this.#frames.get(number)
      if (frame === undefined) continue
      this.#remove(number)
      arrived.push({ ...frame, arrivedMs: atTenthsMs / 10 })
      if (frame.alias > 0) aliases.push(frame.alias)
    }
    const lost = this.#passOver(frames.at(-1)?.number ?? 0)
    const newest = arrived.findLast(({ isOther }) => !isOther)
    if (newest === undefined) return { arrived, aliases, lost, rttMs: undefined }
    const reportedMs = Math.max(...frames.map(({ atTenthsMs }) => atTenthsMs + heldTenthsMs)) / 10
    const rttMs = nowMs - newest.sentMs - (reportedMs - newest.arrivedMs)
    return { arrived, aliases, lost, rttMs: Math.max(0, rttMs) }
  }

  /** What is under way counts no more. It may arrive. */
  writeOff(): void {
    for (const frame of this.#frames.values()) frame.isWrittenOff = true
    this.#bytes = 0
  }

  /** Returns how many are lost. */
  #passOver(newest: number): number {
    let lost = 0
    for (const [number, frame] of this.#frames) {
      if (number >= newest) break
      if (frame.isOther || ++frame.passedOver < reportsUntilLost) continue
      this.#remove(number)
      lost++
    }
    return lost
  }

  #remove(number: number): void {
    const frame = this.#frames.get(number)
    if (frame?.isWrittenOff === false) this.#bytes -= frame.bytes
    this.#frames.delete(number)
  }
}
