import { LRU } from 'tiny-lru'
import type { TrackerLimits } from '../limits.ts'
import { TokenBucket } from './timing/token-bucket.ts'

/** Networks of which one stream part remembers how often their nodes had an overlay taken over; the oldest is forgotten first. */
const maxNetworks = 64

/** How often the nodes of each network may yet have an overlay taken over into one that is here. */
export class Takeovers {
  readonly #limits: Pick<TrackerLimits, 'takeoverBurst' | 'takeoversPerSecond'>
  readonly #buckets = new LRU<TokenBucket>(maxNetworks)

  constructor(limits: Pick<TrackerLimits, 'takeoverBurst' | 'takeoversPerSecond'>) {
    this.#limits = limits
  }

  /** False when it is one too many. */
  take(network: string, nowMs: number): boolean {
    const { takeoverBurst: burst, takeoversPerSecond: perSecond } = this.#limits
    const bucket = this.#buckets.peek(network) ?? new TokenBucket({ burst, perSecond }, nowMs)
    this.#buckets.set(network, bucket)
    return bucket.take(nowMs)
  }
}
