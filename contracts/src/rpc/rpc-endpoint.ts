import type { FetchRequest, JsonRpcPayload } from '@runnel/contracts/ethers'
import { rpcSecrets } from '../rpc-secrets.ts'
import { quantityOf, type RpcAnswer } from './rpc-answers.ts'
import { requestTimeoutMs, rpcRequest } from './rpc-request.ts'

/**
 * How an endpoint does. `failing`: it gives no answers. `lagging`: it has older blocks than others. `differs`: others agreed on something
 * else than it said. `other-chain`: it serves another chain.
 */
export type RpcState = 'ok' | 'failing' | 'lagging' | 'differs' | 'other-chain'

/** One endpoint of a chain, as it may be shown. */
export interface RpcStatus {
  /** Its URL without secrets. */
  readonly endpoint: string
  readonly state: RpcState
  /** The newest block that it named; 0 before the first answer. */
  readonly block: number
  /** Of a state other than ok. */
  readonly reason?: string
}

/** What an endpoint answered to some requests. */
export interface RpcReply {
  /** One for each request, in its order. */
  readonly answers: readonly RpcAnswer[]
  /** Its newest block. */
  readonly block: number
}

/** How long an endpoint is left alone, in milliseconds: twice as long each time, up to a limit. One that differs is no accident. */
const rests = {
  failing: [1_000, 60_000],
  lagging: [2_000, 60_000],
  differs: [60_000, 600_000],
  'other-chain': [60_000, 600_000],
} as const
/** So long two honest ones may differ, while a chain replaces a block: what differs again later is left. */
const reorganisationMs = 2_000
/** After this it is forgotten that an endpoint differed. */
const forgivenAfterMs = 600_000

/** One endpoint of a chain: asks it, and remembers how it does. */
export class RpcEndpoint {
  readonly shown: string
  readonly #request: FetchRequest
  readonly #scrub: (thrown: unknown) => Error
  readonly #pending = new Set<FetchRequest>()
  readonly #onChange: (status: RpcStatus) => void
  readonly #lagToleranceMs: number
  #state: RpcState = 'ok'
  #reason = ''
  #block = 0
  #chainId: number | undefined
  #restCount = 0
  #restsUntilMs = 0
  #isOut = false
  #behindSinceMs: number | undefined
  #differedMs = -Infinity

  constructor(
    url: string,
    options: { shown: string; lagToleranceMs: number; onChange: (status: RpcStatus) => void },
  ) {
    this.shown = options.shown
    this.#onChange = options.onChange
    this.#lagToleranceMs = options.lagToleranceMs
    this.#scrub = rpcSecrets(url).scrubError
    this.#request = rpcRequest(url)
    // There are others to ask.
    this.#request.retryFunc = async () => false
  }

  get status(): RpcStatus {
    const reason = this.#state === 'ok' ? {} : { reason: this.#reason }
    return { endpoint: this.shown, state: this.#state, block: this.#block, ...reason }
  }

  /** The chain that it serves; undefined before its first answer. */
  get chainId(): number | undefined {
    return this.#chainId
  }

  /** Whether it is asked for more than to see if it is back. */
  get isInService(): boolean {
    return !this.#isOut
  }

  /** True when it was left alone for long enough, and then not until it could have answered. */
  takeRested(nowMs: number): boolean {
    if (!this.#isOut || nowMs < this.#restsUntilMs) return false
    this.#restsUntilMs = nowMs + 2 * requestTimeoutMs
    return true
  }

  /** Asks all at once, and for its newest block. Throws when it gives no proper answer. */
  async ask(payloads: readonly JsonRpcPayload[]): Promise<RpcReply> {
    const own = [question('block', 'eth_blockNumber')]
    if (this.#chainId === undefined) own.push(question('chain', 'eth_chainId'))
    const byId = await this.#post([...own, ...payloads])
    const block = quantityOf(byId.get('block'))
    const chainId = quantityOf(byId.get('chain'))
    if (block === undefined || (this.#chainId ?? chainId) === undefined)
      throw new Error('it names no newest block')
    const answers = payloads.flatMap(({ id }) => byId.get(id) ?? [])
    if (answers.length < payloads.length) throw new Error('it answered in part only')
    this.#chainId ??= chainId
    this.#block = block
    return { answers, block }
  }

  async #post(payloads: readonly unknown[]): Promise<Map<unknown, RpcAnswer>> {
    const request = this.#request.clone()
    request.body = JSON.stringify(payloads)
    request.setHeader('content-type', 'application/json')
    this.#pending.add(request)
    try {
      const response = await request.send()
      response.assertOk()
      const body: unknown = response.bodyJson
      if (!Array.isArray(body)) throw new Error('it does not answer batches')
      return new Map(body.filter(isAnswer).map((answer) => [answer.id, answer]))
    } finally {
      this.#pending.delete(request)
    }
  }

  /** It answered, with blocks that are new enough. */
  isFine(): void {
    this.#behindSinceMs = undefined
    this.#restCount = this.#state === 'differs' ? this.#restCount : 0
    this.#isOut = false
    if (this.#state !== 'differs') this.#setState('ok')
  }

  /** It said what was agreed on. */
  hasAgreed(nowMs: number): void {
    if (nowMs - this.#differedMs < forgivenAfterMs || this.#state !== 'differs' || this.#isOut) return
    this.#restCount = 0
    this.#setState('ok')
  }

  /** Others agreed on something else. After its rest it is asked again, and not taken for honest for a while. */
  hasDiffered(nowMs: number, reason: string): void {
    const sinceMs = nowMs - this.#differedMs
    if (sinceMs < reorganisationMs) return
    this.#differedMs = nowMs
    if (sinceMs < forgivenAfterMs) this.#rest('differs', reason, nowMs)
  }

  hasFailed(nowMs: number, error: unknown): void {
    this.#rest('failing', this.#scrub(error).message, nowMs)
  }

  /** Its newest block is older than one that was seen. For a while that is how it is, with a new block. */
  isBehind(nowMs: number, block: number): void {
    this.#behindSinceMs ??= nowMs
    if (nowMs - this.#behindSinceMs >= this.#lagToleranceMs)
      this.#rest('lagging', `it is at block ${this.#block}, others at ${block}`, nowMs)
    else if (this.#isOut) this.#restsUntilMs = nowMs + rests.lagging[0]
  }

  servesAnother(nowMs: number, wanted: number): void {
    this.#rest('other-chain', `it serves chain ${this.#chainId ?? 0}, not ${wanted}`, nowMs)
    // It may be set right.
    this.#chainId = undefined
  }

  /** Gives up what was asked. */
  cancel(): void {
    for (const request of this.#pending) request.cancel()
  }

  #rest(state: Exclude<RpcState, 'ok'>, reason: string, nowMs: number): void {
    const [firstMs, maxMs] = rests[state]
    this.#restsUntilMs = nowMs + Math.min(firstMs * 2 ** this.#restCount++, maxMs)
    this.#isOut = true
    this.#reason = reason
    this.#setState(state)
  }

  #setState(state: RpcState): void {
    if (this.#state === state) return
    this.#state = state
    this.#onChange(this.status)
  }
}

const question = (id: string, method: string) => ({ id, jsonrpc: '2.0', method, params: [] })

function isAnswer(value: unknown): value is RpcAnswer {
  if (typeof value !== 'object' || value === null || !('id' in value)) return false
  return 'result' in value || ('error' in value && typeof value.error === 'object' && value.error !== null)
}
