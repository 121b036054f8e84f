import { BlockList, isIP } from 'node:net'

import type { Cancel } from '@runnel/protocol'
import { addressOf } from './candidate.ts'

/**
 * How long after finding its outer address, or its relay if it uses nothing else, an answerer begins to check, in milliseconds, when it is not
 * known how long signals take. By then the offerer knows that address and has sent to it.
 */
export const holdMs = 150
/** Added to the signal delay when it is known: the offerer must have taken the signal. */
export const marginMs = 30
/** The longest wait in any case: there may be no outer address to find. */
export const maxHoldMs = 1000

/** Addresses that cannot be reached from outside their network (RFC 1918, 3927, 4193 and 4291). */
const privateNetworks = new BlockList()
for (const [network, bits] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['127.0.0.0', 8],
] as const)
  privateNetworks.addSubnet(network, bits)
for (const [network, bits] of [
  ['fc00::', 7],
  ['fe80::', 10],
  ['::1', 128],
] as const)
  privateNetworks.addSubnet(network, bits, 'ipv6')

/** What of this side the other must know first: an address outside of the NAT; or a relay, where nothing else is used. */
export type AwaitedKind = 'srflx' | 'relay'

/**
 * Delays an answerer's checks of the other side's outer addresses while it is behind a NAT, or uses relays only, for two reasons that lie in
 * the library:
 *
 * - The offerer is the DTLS client. What it sends before the answerer's ICE has a path is lost, and repeated only after a
 *   second. Of two NATs that filter, one drops the first check, and whoever checks second gets through first; the other has its
 *   path 50 ms or more later, because libjuice delays the check that it owes in return by that much. So the answerer must be
 *   second. Relays filter as such NATs do: they let nobody in to whom nothing was sent.
 * - A check through the answerer's relay that arrives before the offerer knows of the relay shows an address of unknown kind
 *   (peer-reflexive), which has priority over what a NAT assigned: the offerer would nominate the relay where a direct path
 *   works.
 *
 * Addresses of a private network are checked at once, unless they are of relays.
 */
export class CandidateHold {
  readonly #schedule: (ms: number, action: () => void) => Cancel
  readonly #awaits: AwaitedKind
  /** After what is awaited was found. */
  readonly #waitMs: number
  readonly #own = new Set<string>()
  /** Held candidates; undefined once they are released. */
  #held: (() => void)[] | undefined = []
  #cancel: Cancel

  /** Starts holding. */
  constructor(
    { awaits, signalDelayMs }: { readonly awaits: AwaitedKind; readonly signalDelayMs?: number | undefined },
    modules: { readonly schedule: (ms: number, action: () => void) => Cancel },
  ) {
    this.#awaits = awaits
    this.#waitMs = signalDelayMs === undefined ? holdMs : Math.min(signalDelayMs + marginMs, maxHoldMs)
    this.#schedule = modules.schedule
    this.#cancel = this.#schedule(maxHoldMs, () => this.release())
  }

  /** An address of this side was found. */
  found(candidate: string): void {
    const kind = kindOf(candidate)
    if (kind === 'host') this.#own.add(addressOf(candidate))
    if (kind !== this.#awaits || this.#held === undefined) return
    // The outer address is its own: there is no NAT.
    if (this.#own.has(addressOf(candidate))) return this.release()
    this.#cancel()
    this.#cancel = this.#schedule(this.#waitMs, () => this.release())
  }

  /** Calls `take` now, or after the delay; what it throws then is ignored. */
  add(candidate: string, take: () => void): void {
    const isNear = this.#awaits !== 'relay' && isPrivate(addressOf(candidate))
    if (this.#held === undefined || isNear) take()
    else this.#held.push(take)
  }

  /** Releases everything, and holds nothing afterwards. Idempotent. */
  release(): void {
    const held = this.#held ?? []
    this.close()
    for (const take of held) {
      try {
        take()
      } catch {
        // One bad candidate does not affect the others.
      }
    }
  }

  /** Drops what is held. Idempotent. */
  close(): void {
    this.#held = undefined
    this.#cancel()
  }
}

/** The field behind `typ` (RFC 8839, section 5.1). */
function kindOf(candidate: string): string {
  return / typ ([a-z]+)/.exec(candidate)?.[1] ?? ''
}

function isPrivate(address: string): boolean {
  return privateNetworks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}
