import { networkOf } from '@runnel/protocol'
import { LRU } from 'tiny-lru'
import { TokenBucket } from '../core/timing/token-bucket.ts'

/** How often the views of a tracker may be asked for. */
export const requestLimits = {
  /** Requests for lists, overlays and predictions of one network (/24 or /48), on average; more are refused (`viewsRefused`). */
  viewsPerSecond: 20,
  /** And how many at once. */
  viewBurst: 400,
  /** Networks of which that is counted; the one that asked longest ago is forgotten first. */
  maxNetworks: 10_000,
} as const

/** Who has asked for how much. */
export class RequestRates {
  readonly #buckets: LRU<TokenBucket>
  readonly #limits: { readonly [L in keyof typeof requestLimits]: number }

  constructor(limits: { readonly [L in keyof typeof requestLimits]: number } = requestLimits) {
    this.#limits = limits
    this.#buckets = new LRU(limits.maxNetworks)
  }

  /** Whether somebody at this address may ask once more. */
  allows(address: string, nowMs: number): boolean {
    const { viewsPerSecond: perSecond, viewBurst: burst } = this.#limits
    const network = networkOf(address)
    const bucket = this.#buckets.peek(network) ?? new TokenBucket({ perSecond, burst }, nowMs)
    this.#buckets.set(network, bucket)
    return bucket.take(nowMs)
  }
}
