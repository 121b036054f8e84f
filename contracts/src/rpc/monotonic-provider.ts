import {
  JsonRpcProvider,
  type FetchRequest,
  type JsonRpcApiProviderOptions,
  type JsonRpcPayload,
  type JsonRpcResult,
} from '@runnel/contracts/ethers'
import { kindOf, quantityOf, type RpcAnswer } from './rpc-answers.ts'

/** How long after an event or a transaction was seen an answer may be from before it. */
const settlingMs = 60_000
/** How long more is waited for an answer that is not from before it. */
const maxWaitMs = 5_000
/** How often it is asked for meanwhile. */
const retryMs = 250

/** What depends on the newest block that the endpoint knows. */
const methodsOfState = new Set([
  'eth_call',
  'eth_estimateGas',
  'eth_getBalance',
  'eth_getCode',
  'eth_getTransactionCount',
])
/** Its id is none of ethers'. */
const newestBlockQuestion: JsonRpcPayload = { id: 0, jsonrpc: '2.0', method: 'eth_blockNumber', params: [] }

/**
 * One endpoint, behind which there may be several machines that are not all at one block, as behind the URLs of most providers. What is read
 * after an event or one's own transaction was seen is read from a machine that knows of it: monotonic reads and read your writes (Terry et
 * al., "Session guarantees for weakly consistent replicated data", 1994). After `maxWaitMs` the older answer is taken: the chain may be
 * shorter now.
 */
export class MonotonicProvider extends JsonRpcProvider {
  readonly #monotonicMs: () => number
  /** The newest block of an event or a transaction that was seen. */
  #seen = 0
  #settledAtMs = 0

  constructor(
    request: FetchRequest,
    chainId: number,
    options: JsonRpcApiProviderOptions,
    monotonicMs: () => number,
  ) {
    super(request, chainId, options)
    this.#monotonicMs = monotonicMs
  }

  override async _send(payload: JsonRpcPayload | JsonRpcPayload[]): Promise<JsonRpcResult[]> {
    const payloads = [payload].flat()
    // What may be asked again must send nothing.
    const isOfState =
      payloads.some(({ method }) => methodsOfState.has(method)) &&
      payloads.every(({ method }) => kindOf({ method }) !== 'send')
    const answers =
      isOfState && this.#monotonicMs() < this.#settledAtMs
        ? await this.#read(payload)
        : await super._send(payload)
    for (const answer of answers) this.#see(answer)
    return answers
  }

  async #read(payload: JsonRpcPayload | JsonRpcPayload[]): Promise<JsonRpcResult[]> {
    const endMs = this.#monotonicMs() + maxWaitMs
    for (;;) {
      const answers = await super._send([newestBlockQuestion, payload].flat())
      const block = quantityOf(answers.find(({ id }) => id === newestBlockQuestion.id))
      // One that takes no batches is believed.
      if (block === undefined) return super._send(payload)
      if (block >= this.#seen || this.destroyed) return answers
      if (this.#monotonicMs() >= endMs) {
        this.#seen = block
        return answers
      }
      await new Promise((resolve) => setTimeout(resolve, retryMs))
    }
  }

  #see(answer: RpcAnswer): void {
    const newest = newestBlockOf('result' in answer ? answer.result : undefined)
    if (newest <= this.#seen) return
    this.#seen = newest
    this.#settledAtMs = this.#monotonicMs() + settlingMs
  }
}

/** The newest block of a transaction's receipt, or of events; 0 where it is none of these. */
function newestBlockOf(result: unknown): number {
  if (Array.isArray(result))
    return result.reduce((newest: number, one) => Math.max(newest, newestBlockOf(one)), 0)
  if (typeof result !== 'object' || result === null || !('transactionHash' in result)) return 0
  const block = Number(Reflect.get(result, 'blockNumber') ?? 0)
  return Number.isSafeInteger(block) ? block : 0
}
