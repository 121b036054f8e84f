import type { Clock, MessageBatch, NodeId, VerificationPool } from '@runnel/protocol'

export interface SignaturesAheadModules {
  readonly clock: Pick<Clock, 'endOfTurn'>
  readonly verification: VerificationPool
  /** Verifies on this thread. */
  verify(batch: MessageBatch, signerId: NodeId): boolean
  /** When this thread may go on, if it has verified for long enough. */
  rest(): Promise<void> | undefined
}

/** One that waits for its turn. */
interface Ahead {
  readonly batch: MessageBatch
  readonly signerId: NodeId
  /** Aborted once nobody wants it any more. */
  readonly signal: AbortSignal
  /** A worker has it. */
  isAsked: boolean
  /** Undefined before, and where nobody could say. */
  isSigned: boolean | undefined
}

/** Batches at workers at once: what they do in some turns of this thread. */
const maxAsked = 256

/**
 * Signatures of one reading's batches that wait for their turn, checked meanwhile. Workers are given what this thread has not come to at the end
 * of a turn, a little at a time; where it would wait for one of these, it verifies what they have not been given. So all cores are at work,
 * whichever is the quickest, and what is not wanted any more costs next to nothing.
 */
export class SignaturesAhead {
  readonly #modules: SignaturesAheadModules
  readonly #known = new WeakMap<MessageBatch, Ahead>()
  /** In the order in which their turns come, with some that have been verified since. */
  #waiting: Ahead[] = []
  #asked = 0
  #isDue = false
  #isAsking = false
  #answered: PromiseWithResolvers<void> | undefined

  constructor(modules: SignaturesAheadModules) {
    this.#modules = modules
  }

  add(batch: MessageBatch, signerId: NodeId, signal: AbortSignal): void {
    const one: Ahead = { batch, signerId, signal, isAsked: false, isSigned: undefined }
    this.#known.set(batch, one)
    this.#waiting.push(one)
    if (this.#isDue) return
    this.#isDue = true
    this.#modules.clock.endOfTurn(() => {
      this.#isDue = false
      this.#ask()
    })
  }

  /** True when the key of this address signed the batch, whose turn it is. */
  isSigned(batch: MessageBatch, signerId: NodeId): boolean | Promise<boolean> {
    const known = this.#known.get(batch)
    if (known?.signerId !== signerId) return this.#modules.verify(batch, signerId)
    return known.isAsked ? this.#answerTo(known) : this.#verdictOn(known)
  }

  /** Nothing is wanted any more. Idempotent. */
  close(): void {
    this.#waiting = []
  }

  async #answerTo(one: Ahead): Promise<boolean> {
    while (one.isAsked) {
      const other = this.#takeWaiting()
      if (other === undefined) await (this.#answered ??= Promise.withResolvers()).promise
      else {
        this.#verdictOn(other)
        await this.#modules.rest()
      }
    }
    return this.#verdictOn(one)
  }

  #verdictOn(one: Ahead): boolean {
    return (one.isSigned ??= this.#modules.verify(one.batch, one.signerId))
  }

  #takeWaiting(): Ahead | undefined {
    for (;;) {
      const one = this.#waiting.shift()
      if (one === undefined || (one.isSigned === undefined && !one.signal.aborted)) return one
    }
  }

  /** Gives workers as many as they may have. */
  #ask(): void {
    // A pool without workers answers at once.
    if (this.#isAsking) return
    this.#isAsking = true
    while (this.#asked < maxAsked) {
      const one = this.#takeWaiting()
      if (one === undefined) break
      one.isAsked = true
      this.#asked++
      if (
        this.#modules.verification.verify(one.batch, one.signerId, (isSigned) => this.#answer(one, isSigned))
      )
        continue
      // They take no more at present.
      one.isAsked = false
      this.#asked--
      this.#waiting.unshift(one)
      break
    }
    this.#isAsking = false
  }

  #answer(one: Ahead, isSigned: boolean | undefined): void {
    one.isAsked = false
    one.isSigned = isSigned
    this.#asked--
    this.#answered?.resolve()
    this.#answered = undefined
    this.#ask()
  }
}
