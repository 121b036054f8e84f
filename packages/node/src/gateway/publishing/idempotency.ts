import { createHash } from 'node:crypto'
import type { Clock } from '@runnel/protocol'
import { nodeError } from '../../errors.ts'
import type { GatewayLimits } from '../limits.ts'

interface Remembered<Answer> {
  readonly account: string
  readonly digest: string
  readonly untilMs: number
  readonly answer: Promise<Answer>
}

/** Does what has an idempotency key once: who repeats it within ten minutes gets the same answer, also while the first is under way. */
export class Idempotency<Answer> {
  readonly #limits: Pick<GatewayLimits, 'maxIdempotentAnswers' | 'maxIdempotentAnswersOfKey' | 'idempotentMs'>
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #remembered = new Map<string, Remembered<Answer>>()
  /** Names in the order in which they came, by account. */
  readonly #byAccount = new Map<string, Set<string>>()

  constructor(
    limits: Pick<GatewayLimits, 'maxIdempotentAnswers' | 'maxIdempotentAnswersOfKey' | 'idempotentMs'>,
    clock: Pick<Clock, 'monotonicMs'>,
  ) {
    this.#limits = limits
    this.#clock = clock
  }

  get size(): number {
    return this.#remembered.size
  }

  /** `what` is all that makes the request: another one with the same key throws GATEWAY_REUSED_KEY. What failed is forgotten. */
  once(
    account: string,
    key: string,
    what: readonly (string | Uint8Array)[],
    act: () => Promise<Answer>,
  ): Promise<Answer> {
    const nowMs = this.#clock.monotonicMs()
    this.#forgetExpired(nowMs)
    const name = `${account} ${key}`
    const digest = digestOf(what)
    const before = this.#remembered.get(name)
    if (before !== undefined) {
      if (before.digest !== digest) return Promise.reject(nodeError('GATEWAY_REUSED_KEY'))
      return before.answer
    }
    this.#makeRoom(account)
    const answer = act()
    const remembered = { account, digest, untilMs: nowMs + this.#limits.idempotentMs, answer }
    this.#remembered.set(name, remembered)
    const own = this.#byAccount.get(account) ?? new Set()
    this.#byAccount.set(account, own.add(name))
    answer.catch(() => {
      if (this.#remembered.get(name) === remembered) this.#forget(name)
    })
    return answer
  }

  /** They are in the order in which they were made, and so of their ends. */
  #forgetExpired(nowMs: number): void {
    for (const [name, { untilMs }] of this.#remembered) {
      if (untilMs > nowMs) return
      this.#forget(name)
    }
  }

  /** An account with many makes room of its own, so that it does not take that of all. */
  #makeRoom(account: string): void {
    const { maxIdempotentAnswers, maxIdempotentAnswersOfKey } = this.#limits
    const own = this.#byAccount.get(account) ?? new Set<string>()
    const isFull = this.#remembered.size >= maxIdempotentAnswers
    const [oldest] = own.size >= maxIdempotentAnswersOfKey ? own : isFull ? this.#remembered.keys() : []
    if (oldest !== undefined) this.#forget(oldest)
  }

  #forget(name: string): void {
    const account = this.#remembered.get(name)?.account ?? ''
    this.#remembered.delete(name)
    const own = this.#byAccount.get(account)
    own?.delete(name)
    if (own?.size === 0) this.#byAccount.delete(account)
  }
}

/** Each part with its length, so that no two requests are taken for one. */
function digestOf(parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length} `).update(part)
  return hash.digest('base64')
}
