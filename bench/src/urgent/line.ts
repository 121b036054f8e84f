export interface LineOptions {
  readonly kbitPerS: number
  readonly oneWayMs: number
  /** The part of the datagrams that get lost. */
  readonly lossRate: number
}

/** What a line holds while it is busy, as the router of a home does. */
const queueBytes = 64 * 1024

/** One direction of a slow line: what is sent waits for what was sent before, and then takes its time. */
export class Line {
  readonly #options: LineOptions
  #freeAtMs = 0
  /** What is under way, in order: timers of different lengths may be called out of theirs. */
  readonly #underWay: { readonly atMs: number; readonly deliver: () => void }[] = []

  constructor(options: LineOptions) {
    this.#options = options
  }

  /** Whether it takes another datagram, or a piece of a stream. */
  get hasRoom(): boolean {
    return this.#waitingMs < (queueBytes * 8) / this.#options.kbitPerS
  }

  /** In order, like everything on it. False when it is lost, by chance or for want of room. */
  sendDatagram(bytes: number, deliver: () => void): boolean {
    if (!this.hasRoom || Math.random() < this.#options.lossRate) return false
    this.send(bytes, deliver)
    return true
  }

  send(bytes: number, deliver: () => void): void {
    const { kbitPerS, oneWayMs } = this.#options
    const nowMs = performance.now()
    this.#freeAtMs = Math.max(this.#freeAtMs, nowMs) + (bytes * 8) / kbitPerS
    if (this.#underWay.push({ atMs: this.#freeAtMs + oneWayMs, deliver }) === 1) this.#wait()
  }

  #wait(): void {
    const [next] = this.#underWay
    if (next !== undefined) setTimeout(() => this.#deliver(), Math.max(1, next.atMs - performance.now()))
  }

  #deliver(): void {
    const nowMs = performance.now() + 1
    while (this.#underWay[0] !== undefined && this.#underWay[0].atMs <= nowMs)
      this.#underWay.shift()?.deliver()
    this.#wait()
  }

  get #waitingMs(): number {
    return Math.max(0, this.#freeAtMs - performance.now())
  }
}
