import { dropOldest } from '@runnel/protocol'

/** The average covers about this long. */
const meanMs = 1_000
/** A recent rise above the average shows within about this long: other packets must not fill what a publisher is beginning to use. */
const soonMs = 250
/** Less is nothing. */
const leastKbitPerS = 1

interface Offered {
  /** On average, and of late. */
  readonly kbitPerS: number
  readonly soonKbitPerS: number
  readonly atMs: number
}

/** How much each publisher has a link carry of late. */
export class PublisherRates {
  readonly #maxPublishers: number
  readonly #offered = new Map<string, Offered>()

  constructor(maxPublishers: number) {
    this.#maxPublishers = maxPublishers
  }

  offered(publisher: string, bytes: number, nowMs: number): void {
    const before = this.#offered.get(publisher)
    this.#offered.delete(publisher)
    this.#offered.set(publisher, {
      kbitPerS: averageOf(before, nowMs) + (bytes * 8) / meanMs,
      soonKbitPerS: soonOf(before, nowMs) + (bytes * 8) / soonMs,
      atMs: nowMs,
    })
    dropOldest(this.#offered, this.#maxPublishers)
  }

  /** What all of them offer together, on average or of late, whichever is more. */
  sum(nowMs: number): number {
    let [average, soon] = [0, 0]
    for (const offered of this.#offered.values()) {
      average += averageOf(offered, nowMs)
      soon += soonOf(offered, nowMs)
    }
    return Math.max(average, soon)
  }

  /** What of a link's rate is for one of them: what the others leave, and at least an equal part. */
  partOf(publisher: string, kbitPerS: number, nowMs: number): number {
    let [others, count] = [0, 0]
    for (const [other, offered] of this.#offered) {
      const rate = averageOf(offered, nowMs)
      if (other === publisher || rate < leastKbitPerS) continue
      others += rate
      count++
    }
    return Math.max(kbitPerS - others, kbitPerS / (count + 1))
  }
}

const averageOf = (offered: Offered | undefined, nowMs: number): number =>
  offered === undefined ? 0 : offered.kbitPerS * Math.exp((offered.atMs - nowMs) / meanMs)

const soonOf = (offered: Offered | undefined, nowMs: number): number =>
  offered === undefined ? 0 : offered.soonKbitPerS * Math.exp((offered.atMs - nowMs) / soonMs)
