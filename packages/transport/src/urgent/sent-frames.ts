import type { Arrivals } from '@runnel/protocol'
import type { ArrivedFrame } from './rate-control.ts'
import type { Repeatable } from './repeats.ts'

/** A frame that carries a mark. */
interface SentFrame {
  readonly sentMs: number
  readonly bytes: number
  /** The urgent packet in it, which is sent again when it is lost; undefined for other packets. They are not lost, and may wait where urgent ones do not. */
  readonly repeatable?: Repeatable | undefined
}

interface Watched extends SentFrame {
  passedOver: number
  passedMs: number
  isWrittenOff: boolean
}

/** What became of frames, by one report of their receiver. */
export interface FrameReport {
  readonly arrived: readonly ArrivedFrame[]
  /** Aliases that the receiver knows from now on. */
  readonly aliases: readonly number[]
  readonly lost: number
  /** What to send again: of frames that most likely are lost. */
  readonly missing: readonly Repeatable[]
  /** Undefined where no urgent frame is among those that arrived. */
  readonly rttMs: number | undefined
}

/** Every arrival is told twice: what three reports pass over is lost, unless they came within less time than this. */
const lost = { reports: 3, ms: 90 } as const
/** A frame that one report skips is sent again; if the line has reordered frames within this time, it takes two reports. */
const reorderedMs = 10_000

/** The frames of a link that carry a mark and are under way. */
export class SentFrames {
  readonly #maxFrames: number
  readonly #frames = new Map<number, Watched>()
  #number = 0
  #bytes = 0
  #reorderedMs = -Infinity

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
    const isWrittenOff = isOther(frame)
    this.#frames.set(this.#number, { ...frame, passedOver: 0, passedMs: Infinity, isWrittenOff })
    if (!isWrittenOff) this.#bytes += frame.bytes
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
      if (frame.passedOver > 0) this.#reorderedMs = nowMs
      this.#remove(number)
      const { sentMs, bytes, repeatable } = frame
      arrived.push({ sentMs, bytes, isOther: isOther(frame), arrivedMs: atTenthsMs / 10 })
      if (repeatable !== undefined && repeatable.alias > 0) aliases.push(repeatable.alias)
    }
    if (arrived.length === 0) return { arrived, aliases, lost: 0, missing: [], rttMs: undefined }
    const passed = this.#passOver(frames.at(-1)?.number ?? 0, nowMs)
    const newest = arrived.findLast(({ isOther }) => !isOther)
    if (newest === undefined) return { arrived, aliases, ...passed, rttMs: undefined }
    const reportedMs = Math.max(...frames.map(({ atTenthsMs }) => atTenthsMs + heldTenthsMs)) / 10
    const rttMs = nowMs - newest.sentMs - (reportedMs - newest.arrivedMs)
    return { arrived, aliases, ...passed, rttMs: Math.max(0, rttMs) }
  }

  /** What is under way counts no more. It may arrive. */
  writeOff(): void {
    for (const frame of this.#frames.values()) frame.isWrittenOff = true
    this.#bytes = 0
  }

  #passOver(newest: number, nowMs: number): Pick<FrameReport, 'lost' | 'missing'> {
    const reportsUntilMissing = nowMs - this.#reorderedMs < reorderedMs ? 2 : 1
    const missing: Repeatable[] = []
    let lostFrames = 0
    for (const [number, frame] of this.#frames) {
      if (number >= newest) break
      if (frame.repeatable === undefined) continue
      frame.passedOver++
      frame.passedMs = Math.min(frame.passedMs, nowMs)
      if (frame.passedOver === reportsUntilMissing) missing.push(frame.repeatable)
      if (frame.passedOver < lost.reports || nowMs - frame.passedMs < lost.ms) continue
      this.#remove(number)
      lostFrames++
    }
    return { lost: lostFrames, missing }
  }

  #remove(number: number): void {
    const frame = this.#frames.get(number)
    if (frame?.isWrittenOff === false) this.#bytes -= frame.bytes
    this.#frames.delete(number)
  }
}

const isOther = ({ repeatable }: SentFrame): boolean => repeatable === undefined
