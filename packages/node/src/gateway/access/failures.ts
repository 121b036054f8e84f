import { networkOf, TokenBucket } from '@runnel/protocol'
import { LRU } from 'tiny-lru'
import type { GatewayLimits } from '../limits.ts'

/** Counts wrong keys by network. A right one is always let in: 256 bits cannot be guessed, and many may share an address. */
export class Failures {
  readonly #limits: Pick<GatewayLimits, 'failuresPerSecond' | 'failureBurst' | 'maxFailingNetworks'>
  readonly #buckets: LRU<TokenBucket>
  #count = 0

  constructor(limits: Pick<GatewayLimits, 'failuresPerSecond' | 'failureBurst' | 'maxFailingNetworks'>) {
    this.#limits = limits
    this.#buckets = new LRU(limits.maxFailingNetworks)
  }

  get count(): number {
    return this.#count
  }

  /** Counts one from this address. How long the next one has to wait, in milliseconds; 0 within the burst. */
  add(address: string, nowMs: number): number {
    this.#count++
    const { failuresPerSecond: perSecond, failureBurst: burst } = this.#limits
    const network = networkOf(address)
    const bucket = this.#buckets.get(network) ?? new TokenBucket({ perSecond, burst }, nowMs)
    this.#buckets.set(network, bucket)
    return bucket.take(nowMs) ? 0 : Math.ceil(bucket.waitMs(nowMs))
  }
}
