import { dropOldest, TokenBucket } from '@runnel/protocol'
import { Shortest } from './shortest.ts'

export interface WindowLimits {
  /** How long bytes may wait on the way: above it the window shrinks, below it grows. */
  readonly targetMs: number
  readonly minBytes: number
  readonly firstBytes: number
  readonly maxBytes: number
}

/** A ping follows each quarter of the window at once, so that answers come spread. */
const probesPerWindow = 4
/** Less than a quarter of the window waits this long for its ping. */
const probeIntervalMs = 25
/** Of the 100 pings a second that a peer takes, those of the window of a link. */
const probeRate = { perSecond: 35, burst: 8 }
/** A ping without an answer is followed by another after this long. */
const askAgainMs = 500
/** Pings without an answer that are kept; an answer to an older one tells nothing. */
const maxProbes = 64

interface Probe {
  readonly sentBytes: number
  readonly sentMs: number
  /** Whether the window was what limited the sender. */
  readonly isFull: boolean
}

/**
 * How many bytes may be under way on a link. Pings after what was sent tell what has arrived and how long it waited, wherever it waited: in the
 * channel, in the sockets of the system, or in the network. The window follows that delay as LEDBAT does (RFC 6817), with a gain in
 * proportion to the window, as answers are few.
 */
export class InFlightWindow {
  readonly #limits: WindowLimits
  readonly #probes = new Map<number, Probe>()
  #windowBytes: number
  #sentBytes = 0
  #arrivedBytes = 0
  #probedBytes = 0
  #lastProbeMs = -Infinity
  readonly #bucket = new TokenBucket(probeRate, 0)
  readonly #shortestRtt = new Shortest()

  constructor(limits: WindowLimits) {
    this.#limits = limits
    this.#windowBytes = limits.firstBytes
  }

  get windowBytes(): number {
    return this.#windowBytes
  }

  /** Whether something sent is not known to have arrived. */
  get isWaiting(): boolean {
    return this.#probes.size > 0
  }

  /** Bytes that may be sent now. With nothing under way anything may, however large. */
  get roomBytes(): number {
    const inFlight = this.#sentBytes - this.#arrivedBytes
    return inFlight === 0 ? Math.max(1, this.#windowBytes) : Math.max(0, this.#windowBytes - inFlight)
  }

  sent(bytes: number): void {
    this.#sentBytes += bytes
  }

  /** When the next ping is to follow what was sent; Infinity when all is answered. */
  probeDueMs(nowMs: number): number {
    const unprobed = this.#sentBytes - this.#probedBytes
    if (unprobed === 0) return this.#probes.size > 0 ? this.#lastProbeMs + askAgainMs : Infinity
    // More would take the place of those whose answers are still on the way.
    if (this.#probes.size >= maxProbes) return this.#lastProbeMs + askAgainMs
    const allowedMs = nowMs + this.#bucket.waitMs(nowMs)
    if (probesPerWindow * unprobed >= this.#windowBytes) return allowedMs
    return Math.max(allowedMs, this.#lastProbeMs + probeIntervalMs)
  }

  probed(token: number, nowMs: number): void {
    this.#bucket.take(nowMs)
    this.#lastProbeMs = nowMs
    this.#probedBytes = this.#sentBytes
    const isFull = 2 * (this.#sentBytes - this.#arrivedBytes) >= this.#windowBytes
    this.#probes.set(token, { sentBytes: this.#sentBytes, sentMs: nowMs, isFull })
    dropOldest(this.#probes, maxProbes)
  }

  /** A ping was answered; false when it was not of this window. */
  answered(token: number, nowMs: number): boolean {
    const probe = this.#probes.get(token)
    if (probe === undefined) return false
    for (const [older, { sentBytes }] of this.#probes)
      if (sentBytes <= probe.sentBytes) this.#probes.delete(older)
    this.#arrivedBytes = Math.max(this.#arrivedBytes, probe.sentBytes)
    this.#follow(nowMs - probe.sentMs, probe.isFull, nowMs)
    return true
  }

  #follow(rttMs: number, wasFull: boolean, nowMs: number): void {
    this.#shortestRtt.add(rttMs, nowMs)
    const { targetMs, minBytes, maxBytes } = this.#limits
    const waitedMs = rttMs - (this.#shortestRtt.value ?? rttMs)
    // From 1 where nothing waits down to -1 where it waits twice as long as it may.
    const off = Math.max(-1, (targetMs - waitedMs) / targetMs)
    if (off > 0 && !wasFull) return
    const windowBytes = this.#windowBytes * (1 + off / 2)
    this.#windowBytes = Math.min(maxBytes, Math.max(minBytes, windowBytes))
  }
}
