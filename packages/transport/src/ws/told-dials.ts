import type { Clock } from '@runnel/protocol'
import { isPublicHost } from './address-range.ts'

/** Failures of one address after which it is left alone for a while. */
const maxFreeFailures = 3
/** For how long it is left alone then; twice as long after each further failure. */
const firstPauseMs = 30_000
/** The longest that an address is left alone after dials that found no node. */
const longestPauseMs = 3_600_000
/** Told addresses whose failures are remembered; the oldest are forgotten. */
const maxFailedAddresses = 1000

/** Ports that browsers dial for nobody, as other protocols live there (WHATWG Fetch, "bad port"). */
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

interface Failures {
  readonly count: number
  readonly untilMs: number
}

/**
 * Which addresses are dialled that somebody else named. Others could have a node knock at its neighbours' doors, or at those of a
 * victim again and again:
 *
 * - no port of another protocol is dialled;
 * - an address that is not public is dialled only by a node that is in such a network itself: one that has reached an address
 *   of that kind which nobody told it, a tracker's. A node that has reached none of either kind was told nothing by strangers yet;
 * - an address where several dials in a row have not found a node is left alone for a while.
 */
export class ToldDials {
  readonly #clock: Clock
  readonly #failures = new Map<string, Failures>()
  #isInside: boolean | undefined

  /** `isInside` says whether this node is in a network of addresses that are not public; else it finds out. */
  constructor({ isInside }: { readonly isInside?: boolean | undefined }, clock: Clock) {
    this.#isInside = isInside
    this.#clock = clock
  }

  /** A dial that nobody told came through. */
  reached(host: string): void {
    this.#isInside ||= !isPublicHost(host)
  }

  /** Why this host, a name or an IP address, is not dialled; undefined when it is. */
  refusal(host: string, port: number): string | undefined {
    if (badPorts.has(port)) return `port ${port} is not for this`
    if (this.#isInside === false && !isPublicHost(host)) return 'not a public address'
    const failures = this.#failures.get(`${host}:${port}`)
    if (failures !== undefined && failures.untilMs > this.#clock.monotonicMs())
      return `no node was there ${failures.count} times`
    return undefined
  }

  /** No node was found there. */
  failed(host: string, port: number): void {
    const address = `${host}:${port}`
    const count = (this.#failures.get(address)?.count ?? 0) + 1
    const pauseMs =
      count < maxFreeFailures ? 0 : Math.min(longestPauseMs, firstPauseMs * 2 ** (count - maxFreeFailures))
    this.#failures.delete(address)
    this.#failures.set(address, { count, untilMs: this.#clock.monotonicMs() + pauseMs })
    for (const oldest of this.#failures.keys()) {
      if (this.#failures.size <= maxFailedAddresses) break
      this.#failures.delete(oldest)
    }
  }

  /** A node is there. */
  answered(host: string, port: number): void {
    this.#failures.delete(`${host}:${port}`)
  }
}
