import { TokenBucket } from '@runnel/protocol'

export interface UselessDataLimits {
  readonly maxUselessData: number
  readonly uselessDataPerS: number
  readonly uselessGraceMs: number
  readonly maxUselessGraceMs: number
  readonly maxUselessBacklogBytes: number
}

/** How the link to the peer is doing. */
export interface LinkLoad {
  /** What waits here for the link, perhaps a detach among it. */
  readonly queuedBytes: number
  /** Undefined while it is not known. */
  readonly rttMs: number | undefined
}

/**
 * The data of one peer that is no neighbour, from the opening of the link on: whether it is more than what an honest peer sends. That one sends until
 * it hears of our detach, which on a slow link may wait in our queue; then comes what it had queued itself, as fast as the link is. The same comes after a
 * detach of its own where that has overtaken it. What this does not explain are strays: a few, or a few a second.
 */
export class UselessData {
  readonly #limits: UselessDataLimits
  /** The earliest that the peer may have heard of the last detach, as far as can be told. */
  #heardMs: number
  /** From then on a detach counts as heard, whatever waits in the queue. */
  #graceEndMs: number
  /** What the peer may have had queued, and has not sent since. */
  #backlogBytes = 0
  #strays: TokenBucket | undefined

  constructor(limits: UselessDataLimits, nowMs: number) {
    this.#limits = limits
    this.#heardMs = nowMs
    this.#graceEndMs = nowMs + limits.uselessGraceMs
  }

  /** This node has detached from the peer, which may have been sending until now. */
  detached(nowMs: number): void {
    this.#heardMs = nowMs
    this.#graceEndMs = nowMs + this.#limits.maxUselessGraceMs
    this.departed()
  }

  /**
   * The peer has detached itself. What it sent before may come yet, however late: by a lane, or by a connection that another one has replaced since.
   */
  departed(): void {
    this.#backlogBytes = this.#limits.maxUselessBacklogBytes
  }

  /** Counts a packet of so many bytes. True when it is one too many. */
  isTooMuch(bytes: number, link: LinkLoad, nowMs: number): boolean {
    if (this.#isUnheard(link, nowMs)) return false
    if (bytes <= this.#backlogBytes) {
      this.#backlogBytes -= bytes
      return false
    }
    const { maxUselessData: burst, uselessDataPerS: perSecond } = this.#limits
    this.#strays ??= new TokenBucket({ perSecond, burst }, nowMs)
    return !this.#strays.take(nowMs)
  }

  /** Whether the detach, or what the peer sent before it heard of it, may be under way. */
  #isUnheard({ queuedBytes, rttMs = 0 }: LinkLoad, nowMs: number): boolean {
    const graceMs = this.#limits.uselessGraceMs + rttMs
    if (nowMs >= this.#graceEndMs || nowMs - this.#heardMs >= graceMs) return false
    if (queuedBytes > 0) this.#heardMs = nowMs
    return true
  }
}
