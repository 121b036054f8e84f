import type { NodeId } from '../ids/node-id.ts'
import type { SignedBatch } from '../signing/batch-signature.ts'
import type { OnVerdict, VerificationPool } from './verification-pool.ts'

/** A pool that is loaded with the first batch that it is asked to check, and takes none before it is there. */
export class LazyVerification implements VerificationPool {
  readonly #load: () => Promise<VerificationPool>
  #pool: VerificationPool | undefined
  #isLoading = false
  #isStopped = false

  constructor(load: () => Promise<VerificationPool>) {
    this.#load = load
  }

  get workersLost(): number {
    return this.#pool?.workersLost ?? 0
  }

  verify(batch: SignedBatch, signerId: NodeId, onVerdict: OnVerdict): boolean {
    if (this.#pool !== undefined) return this.#pool.verify(batch, signerId, onVerdict)
    if (!this.#isLoading) {
      this.#isLoading = true
      // Where it cannot be loaded there is none.
      this.#load().then(
        (pool) => {
          this.#pool = pool
          if (this.#isStopped) pool.stop()
        },
        () => undefined,
      )
    }
    return false
  }

  stop(): void {
    this.#isStopped = true
    this.#isLoading = true
    this.#pool?.stop()
  }
}
