import { networkOf } from '@runnel/protocol'
import { TokenBucket } from '../core/timing/token-bucket.ts'

/** How often the views of a tracker may be requested. */
export const requestLimits = {
  /**
   * Requests a second for lists, overlays and predictions from one network (/24 or /48), on average; further ones are
   * refused (`viewsRefused`).
   */
  viewsPerSecond: 20,
  /** And the burst. */
  viewBurst: 400,
  /** Networks whose requests are counted; the one that asked longest ago is forgotten first. */
  maxNetworks: 10_000,
} as const

/** Limits requests by network. */
export class RequestRates {
  readonly #buckets = new Map<string, TokenBucket>()
  readonly #limits: { readonly [L in keyof typeof requestLimits]: number }

  constructor(limits: { readonly [L in keyof typeof requestLimits]: number } = requestLimits) {
    this.#limits = limits
  }

  /** Whether a client at this address may make one more request. */
  allows(address: string, now: number): boolean {
    const { viewsPerSecond: perSecond, viewBurst: burst, maxNetworks } = this.#limits
    const network = networkOf(address)
    const bucket = this.#buckets.get(network) ?? new TokenBucket({ perSecond, burst }, now)
    this.#buckets.delete(network)
    this.#buckets.set(network, bucket)
    for (const oldest of this.#buckets.keys()) {
      if (this.#buckets.size <= maxNetworks) break
      this.#buckets.delete(oldest)
    }
    return bucket.take(now)
  }
}
