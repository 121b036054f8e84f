import { networkOf, TokenBucket } from '@runnel/protocol'
import { LRU } from 'tiny-lru'

/** How often the views of a tracker may be requested. */
export const requestLimits = {
  /**
   * Requests a second for lists, overlays and predictions from one network (/24 or /48), on average; further ones are
   * refused (`viewsRefused`).
   */
  viewsPerSecond: 20,
  /** Such requests in one burst. */
  viewBurst: 400,
  /** Networks whose requests are counted; the one that asked longest ago is forgotten first. */
  maxNetworks: 10_000,
} as const

/** Limits requests by network. */
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
