import type { NodeId } from '../ids/node-id.ts'
import type { SignedBatch } from '../signing/batch-signature.ts'
import type { OnVerdict, VerificationPool } from './verification-pool.ts'

interface Shared {
  readonly pool: VerificationPool
  users: number
}

/** Pools by their size, each for all that open one of that size: several nodes in one process have the same cores. */
export class SharedVerification {
  readonly #create: (workers: number) => VerificationPool
  readonly #pools = new Map<number, Shared>()

  constructor(create: (workers: number) => VerificationPool) {
    this.#create = create
  }

  /** The pool ends when all who opened it have stopped what they got. */
  open(workers: number): VerificationPool {
    const shared = this.#pools.get(workers) ?? { pool: this.#create(workers), users: 0 }
    this.#pools.set(workers, shared)
    shared.users++
    return new OpenedVerification(shared.pool, () => {
      if (--shared.users > 0) return
      this.#pools.delete(workers)
      shared.pool.stop()
    })
  }
}

/** What one of them has of it. */
class OpenedVerification implements VerificationPool {
  readonly #pool: VerificationPool
  readonly #onStop: () => void
  readonly #unanswered = new Set<OnVerdict>()
  #isStopped = false

  constructor(pool: VerificationPool, onStop: () => void) {
    this.#pool = pool
    this.#onStop = onStop
  }

  get workersLost(): number {
    return this.#pool.workersLost
  }

  verify(batch: SignedBatch, signerId: NodeId, onVerdict: OnVerdict): boolean {
    if (this.#isStopped) return false
    const answer: OnVerdict = (isSigned) => {
      if (this.#unanswered.delete(answer)) onVerdict(isSigned)
    }
    this.#unanswered.add(answer)
    const isTaken = this.#pool.verify(batch, signerId, answer)
    if (!isTaken) this.#unanswered.delete(answer)
    return isTaken
  }

  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    for (const answer of this.#unanswered) answer(undefined)
    this.#onStop()
  }
}
