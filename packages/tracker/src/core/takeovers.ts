import { TokenBucket } from '@runnel/protocol'
import { LRU } from 'tiny-lru'
import type { TrackerLimits } from '../limits.ts'

/** Networks whose takeovers one stream part counts; the oldest is forgotten first. */
const maxNetworks = 64

/** Limits how often the nodes of each network may have an overlay taken over into an existing one. */
export class Takeovers {
  readonly #limits: Pick<TrackerLimits, 'takeoverBurst' | 'takeoversPerSecond'>
  readonly #buckets = new LRU<TokenBucket>(maxNetworks)

  constructor(limits: Pick<TrackerLimits, 'takeoverBurst' | 'takeoversPerSecond'>) {
    this.#limits = limits
  }

  /** False when the limit is reached. */
  take(network: string, nowMs: number): boolean {
    const { takeoverBurst: burst, takeoversPerSecond: perSecond } = this.#limits
    const bucket = this.#buckets.peek(network) ?? new TokenBucket({ burst, perSecond }, nowMs)
    this.#buckets.set(network, bucket)
    return bucket.take(nowMs)
  }
}
