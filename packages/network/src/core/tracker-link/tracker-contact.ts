import { backoffMs, type NodeId } from '@runnel/protocol'
import type { Way } from './way.ts'

export interface TrackerContactLimits {
  readonly minTrackerBackoffMs: number
  readonly minCircuitBackoffMs: number
  readonly maxTrackerBackoffMs: number
  readonly trackerStaggerMs: number
  readonly trackerSettleMs: number
  readonly trackerForgiveMs: number
}

/** The state of one way to a tracker: whether it is open, and how reliable it has been. */
export class TrackerContact {
  readonly way: Way
  /** Since when no stream part needs it; undefined while one does. */
  unneededSinceMs: number | undefined
  readonly #limits: TrackerContactLimits
  #state: 'closed' | 'dialling' | 'open' = 'closed'
  #sinceMs: number
  #retryAtMs: number
  /** Attempts that failed and connections that ended early, since the last one that lasted. */
  #failures = 0
  /** Connections that ended, since the last one that lasted long. */
  #losses = 0

  constructor(way: Way, limits: TrackerContactLimits, nowMs: number) {
    this.way = way
    this.#limits = limits
    this.#sinceMs = this.#retryAtMs = nowMs
  }

  get trackerId(): NodeId {
    return this.way.trackerId
  }

  get isCircuit(): boolean {
    return this.way.via.length > 0
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  get isClosed(): boolean {
    return this.#state === 'closed'
  }

  /** When a closed one is due to be dialled. */
  get retryAtMs(): number {
    return this.#retryAtMs
  }

  /** When it starts to count as stable. */
  get settledAtMs(): number {
    return this.#state === 'open' ? this.#sinceMs + this.#limits.trackerSettleMs : Infinity
  }

  /** When others should stop waiting for it, though it may still open. RFC 8305, section 5. */
  get lateAtMs(): number {
    if (this.#state === 'open') return Infinity
    return this.#failures > 0 ? -Infinity : this.#sinceMs + this.#limits.trackerStaggerMs
  }

  dialled(nowMs: number): void {
    this.#state = 'dialling'
    this.#sinceMs = nowMs
  }

  opened(nowMs: number): void {
    this.#state = 'open'
    this.#sinceMs = nowMs
  }

  /** It may well be reachable again, and the failure was not its own: it is dialled at once, unless it was a moment ago. */
  hurry(nowMs: number): void {
    if (nowMs - this.#sinceMs >= this.#limits.minTrackerBackoffMs) this.networkBack(nowMs)
  }

  /** Only the way to it broke: it is dialled at once. */
  networkBack(nowMs: number): void {
    if (this.#state !== 'closed') return
    this.#failures = this.#losses = 0
    this.#retryAtMs = nowMs
  }

  /** This node closed it in favour of another way to the same tracker, which says nothing about its reliability. */
  abandoned(nowMs: number): void {
    this.#state = 'closed'
    this.#sinceMs = nowMs
  }

  /** A dial failed, or the connection ended; `random` in [0, 1) spreads reconnects. After more losses it is dialled later. */
  closed(nowMs: number, random: number): void {
    const { minTrackerBackoffMs, minCircuitBackoffMs, maxTrackerBackoffMs, trackerForgiveMs } = this.#limits
    if (this.#state === 'open') {
      if (nowMs >= this.settledAtMs) this.#failures = 0
      this.#losses = nowMs - this.#sinceMs >= trackerForgiveMs ? 1 : this.#losses + 1
    }
    this.#failures++
    this.#state = 'closed'
    this.#sinceMs = nowMs
    const times = Math.max(this.#failures, this.#losses)
    const minPauseMs = this.isCircuit ? minCircuitBackoffMs : minTrackerBackoffMs
    const pauseMs = backoffMs(times, minPauseMs, maxTrackerBackoffMs)
    this.#retryAtMs = nowMs + Math.ceil(pauseMs * (1 - random / 2))
  }
}
