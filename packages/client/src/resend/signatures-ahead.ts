import {
  compareRefs,
  type Clock,
  type MessageBatch,
  type MessageRef,
  type NodeId,
  type VerificationPool,
} from '@runnel/protocol'

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

/** Batches at workers at once: what workers do in some turns of this thread. */
const maxAsked = 256
/** So many may wait before those among them are looked for that nobody wants any more. */
const firstSweepAt = 1_024

/**
 * Signatures of one reading's batches that wait for their turn, checked meanwhile. Workers are given what this thread has not come to at the end
 * of a turn, a little at a time; where it would wait for one of these, it verifies what they have not been given. So all cores are at work,
 * whichever is the quickest, and what is not wanted any more costs next to nothing.
 */
export class SignaturesAhead {
  readonly #modules: SignaturesAheadModules
  readonly #known = new WeakMap<MessageBatch, Ahead>()
  /** In the order in which they came, with some that nobody wants any more. */
  #waiting: Ahead[] = []
  #sweepAt = firstSweepAt
  /** Where the batch begins whose turn came last. What begins before it was passed over, as a copy of one that was taken. */
  #turn: MessageRef | undefined
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
    if (this.#waiting.push(one) >= this.#sweepAt) this.#sweep()
    if (this.#isDue) return
    this.#isDue = true
    this.#modules.clock.endOfTurn(() => {
      this.#isDue = false
      this.#ask()
    })
  }

  /** True when the key of this address signed the batch, whose turn it is. */
  isSigned(batch: MessageBatch, signerId: NodeId): boolean | Promise<boolean> {
    this.#turn = batch.messages[0]
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
    const first = this.#firstWaiting()
    this.#waiting.shift()
    return first
  }

  #firstWaiting(): Ahead | undefined {
    for (;;) {
      const [first] = this.#waiting
      if (first === undefined || this.#isWanted(first)) return first
      this.#waiting.shift()
    }
  }

  #isWanted({ batch, isSigned, signal }: Ahead): boolean {
    const [first] = batch.messages
    const isPassed = first !== undefined && this.#turn !== undefined && compareRefs(first, this.#turn) < 0
    return isSigned === undefined && !signal.aborted && !isPassed
  }

  /** What waits is then no more than sources have brought and the merge has not taken, however long the history is. */
  #sweep(): void {
    this.#waiting = this.#waiting.filter((one) => this.#isWanted(one))
    this.#sweepAt = Math.max(firstSweepAt, 2 * this.#waiting.length)
  }

  /** Gives workers as many as they may have. */
  #ask(): void {
    // A pool without workers answers at once.
    if (this.#isAsking) return
    this.#isAsking = true
    while (this.#asked < maxAsked) {
      const one = this.#firstWaiting()
      if (one === undefined || !this.#isTaken(one)) break
      this.#waiting.shift()
    }
    this.#isAsking = false
  }

  /** False: workers take no more at present. */
  #isTaken(one: Ahead): boolean {
    one.isAsked = true
    this.#asked++
    const answer = (isSigned: boolean | undefined) => this.#answer(one, isSigned)
    if (this.#modules.verification.verify(one.batch, one.signerId, answer)) return true
    one.isAsked = false
    this.#asked--
    return false
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
