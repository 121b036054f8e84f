/** What was offered counts for about so long. */
const meanMs = 1_000
/** Less is nothing. */
const leastKbitPerS = 1

interface Offered {
  kbitPerS: number
  atMs: number
}

/** How much each publisher has a link carry of late. */
export class PublisherRates {
  readonly #maxPublishers: number
  readonly #offered = new Map<string, Offered>()

  constructor(maxPublishers: number) {
    this.#maxPublishers = maxPublishers
  }

  offered(publisher: string, bytes: number, nowMs: number): void {
    const before = this.#now(this.#offered.get(publisher), nowMs)
    this.#offered.delete(publisher)
    this.#offered.set(publisher, { kbitPerS: before + (bytes * 8) / meanMs, atMs: nowMs })
    const [oldest] = this.#offered.keys()
    if (this.#offered.size > this.#maxPublishers && oldest !== undefined) this.#offered.delete(oldest)
  }

  /** What all of them offer together. */
  sum(nowMs: number): number {
    return [...this.#offered.values()].reduce((sum, offered) => sum + this.#now(offered, nowMs), 0)
  }

  /** What of a link's rate is for one of them: what the others leave, and at least an equal part. */
  partOf(publisher: string, kbitPerS: number, nowMs: number): number {
    let [others, count] = [0, 0]
    for (const [other, offered] of this.#offered) {
      const rate = this.#now(offered, nowMs)
      if (other === publisher || rate < leastKbitPerS) continue
      others += rate
      count++
    }
    return Math.max(kbitPerS - others, kbitPerS / (count + 1))
  }

  #now(offered: Offered | undefined, nowMs: number): number {
    if (offered === undefined) return 0
    return offered.kbitPerS * Math.exp((offered.atMs - nowMs) / meanMs)
  }
}
