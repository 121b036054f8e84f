import { BlockList, isIP } from 'node:net'

import type { Cancel } from '@runnel/protocol'
import { addressOf } from './candidate.ts'

/** So long after its outer address was found an answerer begins to check, in milliseconds: the offerer has heard of that address by then, and sent to it. */
export const holdMs = 150
/** No longer than this in any case: there may be no outer address to find. */
export const maxHoldMs = 1000

/** Addresses of networks that nobody reaches from outside (RFC 1918, 3927, 4193 and 4291). */
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

/**
 * Lets an answerer behind a NAT check the other side's outer addresses a moment later than it could, for two reasons that lie in the library:
 *
 * - The offerer is the DTLS client, and what it says before the answerer's ICE has a path is lost, and said again after a second. Of two NATs that
 *   filter, the one drops the first check, and whoever checks second gets through first; the other has its path 50 ms or more later, as libjuice waits that
 *   long with the check it owes in return. So the answerer must be second.
 * - A check through the answerer's relay that comes before the offerer was told of the relay shows an address of unknown kind (peer-reflexive), which goes
 *   before what a NAT gave: the offerer would nominate the relay where a direct path works.
 *
 * Addresses of a private network are checked at once.
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
    if (this.#held === undefined || isPrivate(addressOf(candidate))) take()
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

function isPrivate(address: string): boolean {
  return privateNetworks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}
