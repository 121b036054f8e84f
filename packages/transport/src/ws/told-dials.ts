import type { Clock } from '@runnel/protocol'
import type { ConnectionModules } from '../connection/modules.ts'
import { isPublicHost, routedAddress } from './address-range.ts'
import { Failures } from './failures.ts'

/** Options of a transport that dials URLs. */
export interface DialModules extends ConnectionModules {
  /** Shared by the transports of a node. Default: one of its own. */
  readonly toldDials?: ToldDials
}

/** Failures in a row of one URL after which it is not dialled for a while. */
const maxFreeUrlFailures = 3
/** Failures in a row at one address, whatever the names, ports and schemes, after which it is not dialled for a while. */
const maxFreeAddressFailures = 30
/** Limit on remembered told URLs, and on addresses; those that failed longest ago are forgotten. */
const maxFailedTargets = 10_000

/** Ports that browsers refuse to dial because of other protocols (WHATWG Fetch, "bad port"). */
const badPorts = new Set([
  ...[
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103,
    104,
  ],
  ...[
    109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
    526,
  ],
  ...[
    530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659,
    4045,
  ],
  ...[4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080],
])

/**
 * Decides which addresses named by others are dialled. Otherwise others could make a node probe its own network, or dial a
 * victim again and again:
 *
 * - no port of another protocol is dialled;
 * - an address that is not public is dialled only by a node that is in such a network itself: one that has reached an address
 *   of that kind which nobody told it, a tracker's. A node that has reached none of either kind was told nothing by strangers yet;
 * - a URL at which several dials in a row have found no node is not dialled for a while, and neither is an address at which
 *   many have, by whatever URLs; once more when this node has reached a tracker, as it may have been cut off.
 *
 * An outcome is recorded for the address that was dialled, never for all that a name resolves to: whoever owns the name chooses
 * them. An IPv6 address with an embedded IPv4 address counts as that one. Where the address is unknown, the name stands for it.
 */
export class ToldDials {
  readonly #urls: Failures
  readonly #addresses: Failures
  #isInside: boolean | undefined

  /** `isInside` says whether this node is in a network of addresses that are not public. Default: it finds out. */
  constructor({ isInside }: { readonly isInside?: boolean | undefined }, clock: Clock) {
    this.#isInside = isInside
    const maxTargets = maxFailedTargets
    this.#urls = new Failures({ maxFree: maxFreeUrlFailures, maxTargets }, clock)
    this.#addresses = new Failures({ maxFree: maxFreeAddressFailures, maxTargets }, clock)
  }

  /** A dial of a URL that nobody told us succeeded. */
  reached(host: string): void {
    this.#isInside ||= !isPublicHost(host)
    this.#urls.forgive()
    this.#addresses.forgive()
  }

  /** Why this URL must not be dialled at this address; undefined when it may be. What failed is left alone for `maxRestMs` at most, if given. */
  refusal(url: URL, address = url.hostname, maxRestMs?: number): string | undefined {
    const port = portOf(url)
    if (badPorts.has(port)) return `port ${port} is not for this`
    if (this.#isInside === false && !isPublicHost(address)) return 'not a public address'
    const urlFailures = this.#urls.countOf(url.origin)
    if (this.#urls.isResting(url.origin, maxRestMs)) return `no node was there ${urlFailures} times`
    const routed = routedAddress(address)
    if (this.#addresses.isResting(routed, maxRestMs))
      return `no node was at ${routed} ${this.#addresses.countOf(routed)} times`
    return undefined
  }

  /** Dials in a row that have found no node at this address. */
  failuresAt(address: string): number {
    return this.#addresses.countOf(routedAddress(address))
  }

  /** No node was found there. */
  failed(url: URL, address = url.hostname): void {
    this.#urls.add(url.origin)
    this.#addresses.add(routedAddress(address))
  }

  /** A node is there. */
  answered(url: URL, address = url.hostname): void {
    this.#urls.clear(url.origin)
    this.#addresses.clear(routedAddress(address))
  }
}

function portOf(url: URL): number {
  return Number(url.port || (url.protocol === 'wss:' ? 443 : 80))
}
