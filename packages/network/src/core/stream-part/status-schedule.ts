export interface StatusScheduleLimits {
  readonly settleMs: number
  readonly firstRttCheckMs: number
}

/**
 * When a stream part reports to its tracker: once the wanted neighbours of an instruction are attached, or when that takes long
 * (and then once more when they are); at once when neighbours are lost or cannot be reached; and some time later when
 * round-trip times were not known yet. Whether they changed is looked at for all stream parts at once (`StatusNews`).
 */
export class StatusSchedule {
  readonly #limits: StatusScheduleLimits
  #settling = false
  #settleByMs = Infinity
  #rttCheckMs = Infinity

  constructor(limits: StatusScheduleLimits) {
    this.#limits = limits
  }

  get dueMs(): number {
    return Math.min(this.#settleByMs, this.#rttCheckMs)
  }

  instructed(nowMs: number): void {
    this.#settling = true
    this.#settleByMs = nowMs + this.#limits.settleMs
  }

  /** True when the end of settling calls for a status now. */
  settle(settled: boolean, nowMs: number): boolean {
    if (!this.#settling) return false
    if (settled) {
      this.#settling = false
      this.#settleByMs = Infinity
      return true
    }
    if (this.#settleByMs > nowMs) return false
    this.#settleByMs = Infinity
    return true
  }

  /** True once, when round-trip times that the last status lacked may be known. */
  isRttCheckDue(nowMs: number): boolean {
    if (this.#rttCheckMs > nowMs) return false
    this.#rttCheckMs = Infinity
    return true
  }

  /** A status was sent. */
  sent(allRttsKnown: boolean, nowMs: number): void {
    this.#rttCheckMs = allRttsKnown ? Infinity : nowMs + this.#limits.firstRttCheckMs
  }
}
