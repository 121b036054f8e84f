import { isContactUrl, type RunnelError } from '@runnel/protocol'
import { transportError } from '../errors.ts'
import type { DialOutcome } from '../connection/dial.ts'
import type { DialRequest } from '../ports.ts'
import type { ToldDials } from './told-dials.ts'
import { webSocketSchemes } from './ws-options.ts'

/** Errors that only a node causes: a node is at the address, though not the wanted one. */
const nodeCodes = ['PEER_ID_MISMATCH', 'UNSUPPORTED_VERSION', 'NO_CIRCUIT']

export interface ToldDialOptions extends Pick<DialRequest, 'isTold'> {
  /** What failed before is left alone for so long at most; default: as long as ToldDials says. */
  readonly maxRestMs?: number | undefined
}

/** One dial, as far as it matters who named the address. */
export class ToldDial {
  readonly #dials: ToldDials
  readonly #isTold: boolean
  readonly #maxRestMs: number | undefined
  readonly #url: URL
  /** The target in use: the chosen address, or the host until one is chosen; undefined while nothing is dialled. */
  #tried: string | undefined
  /** The address that a connection was made to; the host until it is known. */
  reached: string

  constructor({ isTold = false, maxRestMs }: ToldDialOptions, url: URL, dials: ToldDials) {
    this.#dials = dials
    this.#isTold = isTold
    this.#maxRestMs = maxRestMs
    this.#url = url
    this.reached = url.hostname.replace(/^\[|\]$/g, '')
  }

  /** Throws DIAL_FAILED when the URL or its host must not be dialled. */
  begin(): void {
    if (this.#isTold && !isContactUrl(this.#url.href, webSocketSchemes))
      throw transportError('DIAL_FAILED', `not a URL that a node has: ${this.#url.href}`)
    const refusal = this.#refusal(this.reached)
    if (refusal !== undefined) throw refusal
    this.#tried = this.reached
  }

  /**
   * Chooses which addresses of the host's name to dial. For a told name it is one, the one with the fewest failures, so that a
   * failure can be attributed. Throws DIAL_FAILED when there is none.
   */
  choose<Found extends { readonly address: string }>(found: readonly Found[]): readonly Found[] {
    if (!this.#isTold) return found
    const failures = ({ address }: Found): number => this.#dials.failuresAt(address)
    const refusals = found.map(({ address }) => this.#refusal(address))
    const [chosen] = found
      .filter((_, index) => refusals[index] === undefined)
      .sort((a, b) => failures(a) - failures(b))
    this.#tried = chosen?.address
    if (chosen !== undefined) return [chosen]
    throw refusals[0] ?? transportError('DIAL_FAILED', `${this.#url.hostname} has no address`)
  }

  /** Records the outcome. */
  done(outcome: DialOutcome, error: RunnelError | undefined): void {
    if (outcome === 'open' && !this.#isTold) this.#dials.reached(this.reached)
    if (!this.#isTold || outcome === 'cancelled' || error?.code === 'SHUTTING_DOWN') return
    if (this.#tried === undefined) return
    const isNode = outcome === 'open' || nodeCodes.includes(error?.code ?? '')
    this.#dials[isNode ? 'answered' : 'failed'](this.#url, this.#tried)
  }

  #refusal(address: string): RunnelError | undefined {
    const refusal = this.#isTold ? this.#dials.refusal(this.#url, address, this.#maxRestMs) : undefined
    return refusal === undefined
      ? undefined
      : transportError('DIAL_FAILED', `${this.#url.hostname}: ${refusal}`)
  }
}
