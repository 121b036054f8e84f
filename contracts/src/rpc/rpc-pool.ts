import { keccak256, type JsonRpcPayload } from '@runnel/contracts/ethers'
import { rpcSecrets } from '../rpc-secrets.ts'
import { comparable, hexOf, isOfEndpoint, kindOf, pinned, reachedBy, type RpcAnswer } from './rpc-answers.ts'
import { RpcEndpoint, type RpcReply, type RpcStatus } from './rpc-endpoint.ts'
import { RpcError } from './rpc-error.ts'
import { RpcVote } from './rpc-vote.ts'

export interface RpcPoolOptions {
  /** Endpoints of one chain, the preferred first. */
  readonly urls: readonly string[]
  /** How many have to give an answer for it to count; with 1 the first that answers is believed. */
  readonly quorum: number
  /** Endpoints of other chains are not believed. Undefined: see `expectChain`. */
  readonly chainId?: number | undefined
  /** How long an endpoint may be behind others before that is reported. Default 10,000. */
  readonly lagToleranceMs?: number | undefined
}

export interface RpcPoolModules {
  readonly monotonicMs: () => number
  /** Hears of every change of how an endpoint does. */
  readonly onChange: (status: RpcStatus) => void
}

/** After this, a chain that is shorter than it was on all endpoints is taken for the chain: one for development was started anew. */
const maxAllBehindMs = 60_000
/** How often all endpoints are asked for their newest block, where one is asked for the rest. */
const compareMs = 10_000
/** How long more is waited for the heights of the others, before any block was agreed on. */
const graceMs = 1_000

/**
 * Several endpoints of one chain, as one. Blocks never go backwards, whoever answers: what was read before a question is not unread by its
 * answer from an endpoint that is behind.
 */
export class RpcPool {
  readonly #quorum: number
  readonly #modules: RpcPoolModules
  readonly #endpoints: readonly RpcEndpoint[]
  #chainId: number | undefined
  /** The newest block that an answer was from. */
  #seen = 0
  #allBehindSinceMs: number | undefined
  #comparedMs: number
  #closed = false

  constructor({ urls, quorum, chainId, lagToleranceMs = 10_000 }: RpcPoolOptions, modules: RpcPoolModules) {
    this.#quorum = quorum
    this.#chainId = chainId
    this.#modules = modules
    this.#comparedMs = modules.monotonicMs()
    const onChange = (status: RpcStatus) => {
      if (!this.#closed) modules.onChange(status)
    }
    this.#endpoints = shownOf(urls).map(
      (shown, i) => new RpcEndpoint(urls[i] ?? '', { shown, lagToleranceMs, onChange }),
    )
  }

  get statuses(): readonly RpcStatus[] {
    return this.#endpoints.map(({ status }) => status)
  }

  /** From now on endpoints of other chains are not believed. */
  expectChain(chainId: number): void {
    this.#chainId = chainId
  }

  /** Answers a batch of requests. Throws RpcError, or what the last endpoint that was asked threw. */
  async send(payloads: readonly JsonRpcPayload[]): Promise<RpcAnswer[]> {
    this.#askOthers()
    const sends = payloads.filter((payload) => kindOf(payload) === 'send')
    const others = payloads.filter((payload) => kindOf(payload) !== 'send')
    const answers = await Promise.all([
      ...sends.map((payload) => this.#submit(payload).then((answer) => [answer])),
      ...(others.length > 0 ? [this.#quorum > 1 ? this.#agree(others) : this.#failOver(others)] : []),
    ])
    for (const answer of answers.flat()) this.#seeBlockOf(answer)
    return answers.flat()
  }

  /** Gives up what was asked. */
  close(): void {
    this.#closed = true
    for (const endpoint of this.#endpoints) endpoint.cancel()
  }

  /** One after the other, until all is answered. */
  async #failOver(payloads: readonly JsonRpcPayload[]): Promise<RpcAnswer[]> {
    const answered = new Map<unknown, RpcAnswer>()
    const incomplete = new Map<unknown, RpcAnswer>()
    const behind: RpcReply[] = []
    const least = this.#seen
    const out = new Set(this.#endpoints.filter(({ isInService }) => !isInService))
    const open = () => payloads.filter(({ id }) => !answered.has(id))
    let failure: unknown
    for (const endpoint of this.#inOrder()) {
      const asked = open()
      // One that is out of service is asked where nobody else answers.
      if (asked.length === 0 || (out.has(endpoint) && answered.size + incomplete.size > 0)) break
      const reply = await this.#ask(endpoint, asked, least).catch((error: unknown) => void (failure = error))
      if (reply === undefined) continue
      if (reply.block < least) {
        behind.push(reply)
        continue
      }
      this.#see(reply.block)
      this.#allBehindSinceMs = undefined
      for (const [i, answer] of reply.answers.entries()) {
        const payload = asked[i]
        if (payload && isComplete(payload, answer)) answered.set(answer.id, answer)
        else incomplete.set(answer.id, answer)
      }
    }
    const missing = open()
    if (missing.every(({ id }) => incomplete.has(id)))
      return [...answered.values(), ...missing.flatMap(({ id }) => incomplete.get(id) ?? [])]
    if (behind.length > 0) return this.#allAreBehind(behind, () => this.#failOver(payloads))
    throw failure
  }

  /** All at once, at a block that a quorum of them has. */
  async #agree(payloads: readonly JsonRpcPayload[]): Promise<RpcAnswer[]> {
    const endpoints = this.#voters()
    const least = this.#seen
    const heights = endpoints.map((endpoint) => this.#ask(endpoint, [], least))
    const block = await this.#agreeOnBlock(heights, least)
    if (block === undefined) {
      const behind = (await Promise.allSettled(heights)).flatMap((one) =>
        one.status === 'fulfilled' ? one.value : [],
      )
      return this.#allAreBehind(behind, () => this.#agree(payloads))
    }
    this.#see(block)
    this.#allBehindSinceMs = undefined
    const isBlockNumber = ({ method }: JsonRpcPayload) => method === 'eth_blockNumber'
    const known = payloads.filter(isBlockNumber).map(({ id }) => ({ id, result: hexOf(block) }))
    const asked = payloads.filter((payload) => !isBlockNumber(payload))
    if (asked.length === 0) return known
    const replies = endpoints.map(async (endpoint, i): Promise<[RpcEndpoint, RpcReply]> => {
      const height = await heights[i]
      if (height === undefined || height.block < block) throw behindError([endpoint], block)
      return [
        endpoint,
        await this.#ask(
          endpoint,
          asked.map((payload) => pinned(payload, block)),
        ),
      ]
    })
    return [...known, ...(await this.#vote(asked, replies))]
  }

  /** The newest block that a quorum has and that is not older than `least`; undefined where there is none. */
  async #agreeOnBlock(heights: readonly Promise<RpcReply>[], least: number): Promise<number | undefined> {
    const blocks: number[] = []
    const failures: unknown[] = []
    await new Promise<void>((resolve) => {
      let grace: ReturnType<typeof setTimeout> | undefined
      const done = () => {
        clearTimeout(grace)
        resolve()
      }
      const look = () => {
        const reached = reachedBy(this.#quorum, blocks)
        if (blocks.length + failures.length === heights.length) done()
        else if (reached === undefined || reached < least) return
        else if (this.#seen > 0) done()
        else grace ??= setTimeout(done, graceMs)
      }
      for (const height of heights)
        void height
          .then(
            ({ block }) => blocks.push(block),
            (error: unknown) => failures.push(error),
          )
          .then(look)
    })
    if (blocks.length < this.#quorum) throw failures[0]
    const block = reachedBy(this.#quorum, blocks) ?? 0
    return block < least ? undefined : block
  }

  async #vote(
    payloads: readonly JsonRpcPayload[],
    replies: readonly Promise<[RpcEndpoint, RpcReply]>[],
  ): Promise<RpcAnswer[]> {
    const votes = payloads.map((payload) => new RpcVote(payload, this.#quorum))
    const { promise, resolve, reject } = Promise.withResolvers<RpcAnswer[]>()
    const resolveIf = (answers: (RpcAnswer | undefined)[]) => {
      const there = answers.filter((answer) => answer !== undefined)
      if (there.length === payloads.length) resolve(there)
      return there.length === payloads.length
    }
    const counted = replies.map(async (reply) => {
      const [endpoint, { answers }] = await reply
      for (const [i, answer] of answers.entries()) votes[i]?.add(endpoint, answer)
      resolveIf(votes.map(({ agreed }) => agreed))
    })
    void Promise.allSettled(counted).then((results) => {
      this.#judge(votes, payloads)
      if (resolveIf(votes.map(({ final }) => final))) return
      const disputed = votes.find(({ opinions }) => opinions > 1)
      const failure = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined
      reject(disputed ? this.#disputed(payloads[votes.indexOf(disputed)]) : failure?.reason)
    })
    return promise
  }

  /** Also by what came after there were enough. */
  #judge(votes: readonly RpcVote[], payloads: readonly JsonRpcPayload[]): void {
    const nowMs = this.#modules.monotonicMs()
    const differing = new Map<RpcEndpoint, string>()
    for (const [i, vote] of votes.entries())
      for (const endpoint of vote.differing)
        differing.set(endpoint, `others agree on another answer to ${payloads[i]?.method ?? ''}`)
    for (const endpoint of new Set(votes.flatMap(({ agreeing }) => agreeing)))
      if (!differing.has(endpoint)) endpoint.hasAgreed(nowMs)
    for (const [endpoint, reason] of differing) endpoint.hasDiffered(nowMs, reason)
  }

  #disputed(payload: JsonRpcPayload | undefined): RpcError {
    const names = this.#endpoints.map(({ shown }) => shown).join(', ')
    return new RpcError('CHAIN_DISPUTED', `no ${this.#quorum} of ${names} agree on ${payload?.method ?? ''}`)
  }

  /**
   * Sent to one; to the next where that fails, or takes none or no more now. Where one may have passed it on all the same, the next one's refusal may
   * be of the same transaction.
   */
  async #submit(payload: JsonRpcPayload): Promise<RpcAnswer> {
    let failure: unknown
    let refused: RpcAnswer | undefined
    let maybeSent = false
    for (const endpoint of this.#inOrder()) {
      const reply = await this.#ask(endpoint, [payload]).catch((error: unknown) => void (failure = error))
      const answer = reply?.answers[0]
      if (answer !== undefined && !('error' in answer)) return answer
      refused = answer ?? refused
      if (answer !== undefined && !isOfEndpoint(answer)) break
      maybeSent = true
    }
    if (refused === undefined) throw failure
    return (maybeSent ? await this.#sentBefore(payload) : undefined) ?? refused
  }

  async #sentBefore(payload: JsonRpcPayload): Promise<RpcAnswer | undefined> {
    const raw: unknown = Array.isArray(payload.params) ? payload.params[0] : undefined
    if (typeof raw !== 'string') return undefined
    const hash = keccak256(raw)
    const look = { ...payload, method: 'eth_getTransactionByHash', params: [hash] }
    const found = await Promise.allSettled(this.#endpoints.map((endpoint) => this.#ask(endpoint, [look])))
    const isKnown = found.some(
      (one) => one.status === 'fulfilled' && one.value.answers.some((answer) => isComplete(look, answer)),
    )
    return isKnown ? { id: payload.id, result: hash } : undefined
  }

  /** It is behind with a block older than `least`: not with one that others have only told since it was asked. */
  async #ask(
    endpoint: RpcEndpoint,
    payloads: readonly JsonRpcPayload[],
    least = this.#seen,
  ): Promise<RpcReply> {
    let reply: RpcReply
    try {
      reply = await endpoint.ask(payloads)
    } catch (error) {
      endpoint.hasFailed(this.#modules.monotonicMs(), error)
      throw error
    }
    const { chainId = 0 } = endpoint
    if (this.#chainId !== undefined && chainId !== this.#chainId) {
      endpoint.servesAnother(this.#modules.monotonicMs(), this.#chainId)
      const message = `${endpoint.shown} serves ${chainId}, configured is ${this.#chainId}`
      throw new RpcError('CHAIN_MISMATCH', message)
    }
    if (reply.block >= least) endpoint.isFine()
    else endpoint.isBehind(this.#modules.monotonicMs(), least)
    return reply
  }

  #see(block: number): void {
    this.#seen = Math.max(this.#seen, block)
  }

  /** Throws CHAIN_UNREACHABLE, or, once all have been for long, asks again for what they have. */
  async #allAreBehind(replies: readonly RpcReply[], again: () => Promise<RpcAnswer[]>): Promise<RpcAnswer[]> {
    const nowMs = this.#modules.monotonicMs()
    this.#allBehindSinceMs ??= nowMs
    if (nowMs - this.#allBehindSinceMs < maxAllBehindMs) throw behindError(this.#endpoints, this.#seen)
    this.#seen =
      reachedBy(
        this.#quorum,
        replies.map(({ block }) => block),
      ) ?? 0
    return again()
  }

  /** Those in service in the order that was given, and then the others. */
  #inOrder(): readonly RpcEndpoint[] {
    return this.#endpoints.toSorted((a, b) => Number(b.isInService) - Number(a.isInService))
  }

  /** All of them, where fewer than a quorum are in service. */
  #voters(): readonly RpcEndpoint[] {
    const inService = this.#endpoints.filter((endpoint) => endpoint.isInService)
    return inService.length < this.#quorum ? this.#endpoints : inService
  }

  /**
   * In the background, as what is asked meanwhile does not wait for one that may be away: those that were left alone for long enough, and
   * now and then all, as one that is stuck at a block is noticed by comparison only.
   */
  #askOthers(): void {
    const nowMs = this.#modules.monotonicMs()
    const compares = this.#quorum === 1 && nowMs - this.#comparedMs >= compareMs
    if (compares) this.#comparedMs = nowMs
    for (const endpoint of this.#endpoints) {
      const isAsked = endpoint.isInService ? compares : endpoint.takeRested(nowMs)
      if (isAsked)
        this.#ask(endpoint, []).then(
          (reply) => this.#compare(reply),
          () => {},
        )
    }
  }

  #compare({ block }: RpcReply): void {
    if (this.#quorum === 1) this.#see(block)
  }

  /** What is read after a transaction was mined must know of it. */
  #seeBlockOf(answer: RpcAnswer): void {
    const result: unknown = 'result' in answer ? answer.result : undefined
    if (typeof result !== 'object' || result === null || !('transactionHash' in result)) return
    const block = Number(Reflect.get(result, 'blockNumber'))
    if (Number.isSafeInteger(block)) this.#see(block)
  }
}

/** Another endpoint could not say more. */
function isComplete(payload: JsonRpcPayload, answer: RpcAnswer): boolean {
  if (comparable(payload, answer) === undefined) return false
  return kindOf(payload) !== 'found' || 'error' in answer || answer.result !== null
}

function behindError(endpoints: readonly RpcEndpoint[], block: number): RpcError {
  const names = endpoints.map(({ shown, status }) => `${shown} at ${status.block}`).join(', ')
  return new RpcError('CHAIN_UNREACHABLE', `behind block ${block}: ${names}`)
}

/** Two may be of one provider, with different keys. */
function shownOf(urls: readonly string[]): string[] {
  const shown = urls.map((url) => rpcSecrets(url).shown)
  return shown.map((one, i) => {
    const before = shown.slice(0, i).filter((other) => other === one).length
    return before === 0 ? one : `${one} (${before + 1})`
  })
}
