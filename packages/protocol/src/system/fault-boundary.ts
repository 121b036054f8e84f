/** Does work of one owner at a time. What it throws ends that work, and that of the others goes on. */
export class FaultBoundary<Owner> {
  readonly #onFault: (owner: Owner, error: unknown) => void
  /** Whose work is being done. */
  #current: Owner | undefined

  constructor(onFault: (owner: Owner, error: unknown) => void) {
    this.#onFault = onFault
  }

  /**
   * What the work gives. What it throws goes to `onFault` and no further, and undefined is returned; within other work of the
   * same owner it ends that as well.
   */
  within<T>(owner: Owner, work: () => T): T | undefined {
    if (owner === this.#current) return work()
    const outer = this.#current
    this.#current = owner
    try {
      return work()
    } catch (error) {
      this.#onFault(owner, error)
      return undefined
    } finally {
      this.#current = outer
    }
  }
}
