import type { RunnelError } from '@runnel/protocol'
import { transportError } from '../errors.ts'
import type { DialOutcome } from '../connection/dial.ts'
import type { DialRequest } from '../ports.ts'
import type { ToldDials } from './told-dials.ts'

/** What only a node says: the address is one, though not the one that was looked for. */
const nodeCodes = ['PEER_ID_MISMATCH', 'UNSUPPORTED_VERSION']

/** One dial, as far as it matters who named the address. */
export class ToldDial {
  readonly #dials: ToldDials
  readonly #isTold: boolean
  readonly #host: string
  readonly #port: number
  /** What was dialled: the host, and the addresses that its name has led to. */
  readonly #dialled = new Set<string>()
  /** The address that a connection was made to; the host as long as that is not known. */
  reached: string

  constructor({ isTold = false }: Pick<DialRequest, 'isTold'>, url: URL, dials: ToldDials) {
    this.#dials = dials
    this.#isTold = isTold
    this.#host = url.hostname.replace(/^\[|\]$/g, '')
    this.#port = Number(url.port || (url.protocol === 'wss:' ? 443 : 80))
    this.reached = this.#host
  }

  /** Throws DIAL_FAILED when the host is not to be dialled. */
  begin(): void {
    const refusal = this.refusal(this.#host)
    if (refusal !== undefined) throw refusal
  }

  /** Why this address, the host or one that its name has led to, is not to be dialled. */
  refusal(address: string): RunnelError | undefined {
    const refusal = this.#isTold ? this.#dials.refusal(address, this.#port) : undefined
    if (refusal !== undefined) return transportError('DIAL_FAILED', `${this.#host}: ${refusal}`)
    this.#dialled.add(address)
    return undefined
  }

  /** It has come to its end. */
  done(outcome: DialOutcome, error: RunnelError | undefined): void {
    if (outcome === 'open' && !this.#isTold) this.#dials.reached(this.reached)
    if (!this.#isTold || outcome === 'cancelled' || error?.code === 'SHUTTING_DOWN') return
    const isNode = outcome === 'open' || nodeCodes.includes(error?.code ?? '')
    for (const address of this.#dialled) this.#dials[isNode ? 'answered' : 'failed'](address, this.#port)
  }
}
