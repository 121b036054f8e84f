export interface FilledGap {
  /** From the arrival that showed the gap to the message itself. */
  readonly fillMs: number
  /** The mean round-trip time to the neighbours when it was filled, where that is known. */
  readonly rttMs: number | undefined
}

/** Watches the messages of one chain as they arrive, for gaps and how long they last. Needs nothing of the node's own book-keeping. */
export class GapWatch {
  readonly #openedMs = new Map<number, number>()
  readonly filled: FilledGap[] = []
  #newest = -1

  arrived(number: number, nowMs: number, rttMs: () => number | undefined): void {
    for (let missing = this.#newest + 1; missing < number; missing++) this.#openedMs.set(missing, nowMs)
    this.#newest = Math.max(this.#newest, number)
    const openedMs = this.#openedMs.get(number)
    if (openedMs === undefined) return
    this.#openedMs.delete(number)
    this.filled.push({ fillMs: nowMs - openedMs, rttMs: rttMs() })
  }
}
