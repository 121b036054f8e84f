import { InFlightWindow, type WindowLimits } from './in-flight-window.ts'

/** They give way before urgent ones have to wait, as they aim at less delay. */
const windowLimits: WindowLimits = {
  targetMs: 20,
  minBytes: 2 * 1024,
  firstBytes: 16 * 1024,
  maxBytes: 1024 * 1024,
}

/** What they may take in any case, of the rate. */
const leastShare = 0.05
/** Other packets take part in the rate until this long after one was sent. */
const takesPartMs = 1_000
/** How much lateness of a timer may be made up for. */
const burstMs = 5

/** The rate of a link. */
interface Rate {
  readonly kbitPerS: number
  readonly isLimited: boolean
}

/**
 * How many other packets may leave beside urgent messages: what those leave of the link's rate, where it is known; before, what a window has room
 * for that yields to delay. Not both: of two loops the slower one would take the other's restraint for the link's.
 */
export class OtherPackets {
  #window = new InFlightWindow(windowLimits)
  /** When the next may leave. */
  #paceMs = -Infinity
  #sentMs = -Infinity
  #isPaced = false

  /** Urgent messages begin. */
  begin(): void {
    // The peer takes so many pings a second, and those without an answer may all be on their way.
    if (!this.#window.isWaiting) this.#window = new InFlightWindow(windowLimits)
    this.#paceMs = -Infinity
    this.#isPaced = false
  }

  /** Bytes that may leave now. */
  roomBytes(nowMs: number): number {
    if (this.#isPaced) return this.#paceMs > nowMs ? 0 : Infinity
    return this.#window.roomBytes
  }

  /** The part of the rate that is for urgent messages. */
  urgentShare(nowMs: number): number {
    return nowMs - this.#sentMs < takesPartMs ? 1 - leastShare : 1
  }

  sent(bytes: number, { kbitPerS, isLimited }: Rate, urgentKbitPerS: number, nowMs: number): void {
    this.#sentMs = nowMs
    this.#isPaced = isLimited
    if (!isLimited) return this.#window.sent(bytes)
    const left = Math.max(leastShare * kbitPerS, kbitPerS - urgentKbitPerS)
    this.#paceMs = Math.max(this.#paceMs, nowMs - burstMs) + (bytes * 8) / left
  }

  /** When there may be room again without an answer; Infinity where there is some. */
  roomDueMs(nowMs: number): number {
    return this.#paceMs > nowMs ? this.#paceMs : Infinity
  }

  /** When a ping is to follow them; Infinity for never. */
  probeDueMs(nowMs: number): number {
    return this.#window.probeDueMs(nowMs)
  }

  probed(token: number, nowMs: number): void {
    this.#window.probed(token, nowMs)
  }

  /** A ping was answered; false when it was none of these. */
  answered(token: number, nowMs: number): boolean {
    return this.#window.answered(token, nowMs)
  }
}
