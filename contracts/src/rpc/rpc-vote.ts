import type { JsonRpcPayload } from '@runnel/contracts/ethers'
import { comparable, hexOf, kindOf, quantityOf, reachedBy, type RpcAnswer } from './rpc-answers.ts'
import type { RpcEndpoint } from './rpc-endpoint.ts'

/** What endpoints answer to one request, and what of it counts: what a quorum of them says. */
export class RpcVote {
  readonly #payload: JsonRpcPayload
  readonly #quorum: number
  readonly #answers = new Map<RpcEndpoint, { readonly answer: RpcAnswer; readonly key: string | undefined }>()
  #agreed: { readonly answer: RpcAnswer; readonly key: string } | undefined

  constructor(payload: JsonRpcPayload, quorum: number) {
    this.#payload = payload
    this.#quorum = quorum
  }

  add(endpoint: RpcEndpoint, answer: RpcAnswer): void {
    const key = comparable(this.#payload, answer)
    this.#answers.set(endpoint, { answer, key })
    if (key === undefined || this.#agreed !== undefined || this.#isOpen(answer)) return
    if (this.#saying(key).length >= this.#quorum) this.#agreed = { answer, key }
  }

  get agreed(): RpcAnswer | undefined {
    return this.#agreed?.answer
  }

  /** When all have answered that will: what counts where none agreed on anything. Undefined where that is in dispute. */
  get final(): RpcAnswer | undefined {
    if (this.#agreed !== undefined) return this.agreed
    const { id } = this.#payload
    const answers = [...this.#answers.values()]
    if (kindOf(this.#payload) === 'estimate') {
      const values = answers.flatMap(({ answer }) => quantityOf(answer) ?? [])
      // So that one alone makes it neither larger nor, of three, smaller.
      const value = reachedBy(this.#quorum, values)
      if (value !== undefined) return { id, result: hexOf(value) }
    }
    if (kindOf(this.#payload) === 'found' && answers.length > 0) return { id, result: null }
    const errors = answers.filter(({ key }) => key === undefined)
    return errors.length >= this.#quorum || errors.length === answers.length ? errors[0]?.answer : undefined
  }

  /** How many different answers there are. */
  get opinions(): number {
    return new Set([...this.#answers.values()].flatMap(({ key }) => key ?? [])).size
  }

  /** Who said what was agreed on. */
  get agreeing(): readonly RpcEndpoint[] {
    return this.#agreed === undefined ? [] : this.#saying(this.#agreed.key)
  }

  /** Who said something else. */
  get differing(): readonly RpcEndpoint[] {
    const agreed = this.#agreed?.key
    if (agreed === undefined || kindOf(this.#payload) !== 'read') return []
    return [...this.#answers].flatMap(([one, { key }]) => (key !== undefined && key !== agreed ? one : []))
  }

  /** Others may still have it; or each has a value of its own. */
  #isOpen(answer: RpcAnswer): boolean {
    const kind = kindOf(this.#payload)
    if ('error' in answer) return false
    return kind === 'estimate' || (kind === 'found' && answer.result === null)
  }

  #saying(wanted: string): RpcEndpoint[] {
    return [...this.#answers].flatMap(([endpoint, { key }]) => (key === wanted ? endpoint : []))
  }
}
