import { createHash } from 'node:crypto'
import type { Clock } from '@runnel/protocol'
import { nodeError } from '../../errors.ts'
import type { GatewayLimits } from '../limits.ts'

interface Remembered<Answer> {
  readonly digest: string
  readonly untilMs: number
  readonly answer: Promise<Answer>
}

/** Does what has an idempotency key once: who repeats it within ten minutes gets the same answer, also while the first is under way. */
export class Idempotency<Answer> {
  readonly #limits: Pick<GatewayLimits, 'maxIdempotentAnswers' | 'idempotentMs'>
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #remembered = new Map<string, Remembered<Answer>>()

  constructor(
    limits: Pick<GatewayLimits, 'maxIdempotentAnswers' | 'idempotentMs'>,
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
    this.#forgetOld(nowMs)
    const name = `${account} ${key}`
    const digest = digestOf(what)
    const before = this.#remembered.get(name)
    if (before !== undefined) {
      if (before.digest !== digest) return Promise.reject(nodeError('GATEWAY_REUSED_KEY'))
      return before.answer
    }
    const answer = act()
    const remembered = { digest, untilMs: nowMs + this.#limits.idempotentMs, answer }
    this.#remembered.set(name, remembered)
    answer.catch(() => {
      if (this.#remembered.get(name) === remembered) this.#remembered.delete(name)
    })
    return answer
  }

  /** In the order in which they were made, and so of their ends. */
  #forgetOld(nowMs: number): void {
    for (const [name, { untilMs }] of this.#remembered) {
      if (untilMs > nowMs && this.#remembered.size < this.#limits.maxIdempotentAnswers) return
      this.#remembered.delete(name)
    }
  }
}

/** Each part with its length, so that no two requests are taken for one. */
function digestOf(parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length} `).update(part)
  return hash.digest('base64')
}
