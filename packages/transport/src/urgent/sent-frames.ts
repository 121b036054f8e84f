import type { Arrivals } from '@runnel/protocol'
import type { ArrivedFrame } from './rate-control.ts'

interface SentFrame {
  readonly sentMs: number
  readonly bytes: number
  /** The alias that it defines, if any. */
  readonly alias: number
}

/** What became of frames, by one report of their receiver. */
export interface FrameReport {
  readonly arrived: readonly ArrivedFrame[]
  /** Aliases that the receiver knows from now on. */
  readonly aliases: readonly number[]
  readonly lost: number
  /** Undefined where nothing new arrived. */
  readonly rttMs: number | undefined
}

/** Every arrival is told twice: what three reports pass over is lost. */
const reportsUntilLost = 3

/** The frames of a link that carry a mark and are under way. */
export class SentFrames {
  readonly #maxFrames: number
  readonly #frames = new Map<number, SentFrame & { passedOver: number }>()
  #number = 0
  #bytes = 0

  constructor(maxFrames: number) {
    this.#maxFrames = maxFrames
  }

  /** Bytes that may be under way. */
  get bytes(): number {
    return this.#bytes
  }

  /** When the oldest of them was sent; Infinity for none. */
  get oldestMs(): number {
    const [oldest] = this.#frames.values()
    return oldest?.sentMs ?? Infinity
  }

  /** Returns the number of the frame. */
  add(frame: SentFrame): number {
    this.#number = (this.#number + 1) >>> 0
    this.#frames.set(this.#number, { ...frame, passedOver: 0 })
    this.#bytes += frame.bytes
    const [oldest] = this.#frames.keys()
    if (this.#frames.size > this.#maxFrames && oldest !== undefined) this.#remove(oldest)
    return this.#number
  }

  /** What it tells of frames that are not under way says nothing. */
  report({ frames, heldTenthsMs }: Arrivals, nowMs: number): FrameReport {
    const arrived: ArrivedFrame[] = []
    const aliases: number[] = []
    let newestSentMs: number | undefined
    for (const { number, atTenthsMs } of frames) {
      const frame = this.#frames.get(number)
      if (frame === undefined) continue
      this.#remove(number)
      arrived.push({ sentMs: frame.sentMs, arrivedMs: atTenthsMs / 10, bytes: frame.bytes })
      if (frame.alias > 0) aliases.push(frame.alias)
      newestSentMs = frame.sentMs
    }
    const lost = this.#passOver(frames.at(-1)?.number ?? 0)
    if (newestSentMs === undefined) return { arrived, aliases, lost, rttMs: undefined }
    return { arrived, aliases, lost, rttMs: Math.max(0, nowMs - newestSentMs - heldTenthsMs / 10) }
  }

  /** Forgets what is under way. */
  clear(): void {
    this.#frames.clear()
    this.#bytes = 0
  }

  /** Returns how many are lost. */
  #passOver(newest: number): number {
    let lost = 0
    for (const [number, frame] of this.#frames) {
      if (number >= newest) break
      if (++frame.passedOver < reportsUntilLost) continue
      this.#remove(number)
      lost++
    }
    return lost
  }

  #remove(number: number): void {
    this.#bytes -= this.#frames.get(number)?.bytes ?? 0
    this.#frames.delete(number)
  }
}
