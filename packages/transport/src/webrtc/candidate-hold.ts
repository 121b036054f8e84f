import type { Cancel } from '@runnel/protocol'
import { addressOf } from './candidate.ts'

/** So long after its outer address was found an answerer begins to check, in milliseconds: the offerer has heard of that address by then, and sent to it. */
export const holdMs = 150
/** No longer than this in any case: there may be no outer address to find. */
export const maxHoldMs = 1000

/**
 * Lets an answerer behind a NAT check the other side's outer addresses a moment later than it could, so that the offerer's first check is the one that a
 * filtering NAT drops. Whoever checks second gets through first, and has its path 50 ms or more before the other, as
 * libjuice waits that long with the check it owes in return. It must be the answerer: the offerer is the DTLS client, and what it says
 * before the answerer has a path is lost, and said again after a second. Addresses of the own network are checked at once.
 */
export class CandidateHold {
  readonly #schedule: (ms: number, action: () => void) => Cancel
  readonly #own = new Set<string>()
  /** What is held; undefined once nothing is any more. */
  #held: (() => void)[] | undefined = []
  #cancel: Cancel

  /** Holds from now on. */
  constructor(modules: { readonly schedule: (ms: number, action: () => void) => Cancel }) {
    this.#schedule = modules.schedule
    this.#cancel = this.#schedule(maxHoldMs, () => this.release())
  }

  /** An address of this side was found. */
  found(candidate: string): void {
    const kind = kindOf(candidate)
    if (kind === 'host') this.#own.add(addressOf(candidate))
    if (kind !== 'srflx' || this.#held === undefined) return
    // As itself: there is no NAT.
    if (this.#own.has(addressOf(candidate))) return this.release()
    this.#cancel()
    this.#cancel = this.#schedule(holdMs, () => this.release())
  }

  /** Calls `take` now, or when the other side has had its time; what it throws then is ignored. */
  add(candidate: string, take: () => void): void {
    if (this.#held === undefined || kindOf(candidate) === 'host') take()
    else this.#held.push(take)
  }

  /** Lets everything go; nothing is held afterwards. Idempotent. */
  release(): void {
    const held = this.#held ?? []
    this.close()
    for (const take of held) {
      try {
        take()
      } catch {
        // One bad candidate does not spoil the others.
      }
    }
  }

  /** Forgets what is held. Idempotent. */
  close(): void {
    this.#held = undefined
    this.#cancel()
  }
}

/** The field behind `typ` (RFC 8839, section 5.1). */
function kindOf(candidate: string): string {
  return / typ ([a-z]+)/.exec(candidate)?.[1] ?? ''
}
