/** Does one piece of work at a time: asked for while it is being done, however often, it is done once more afterwards. */
export class SingleRun {
  readonly #work: () => Promise<void>
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(work: () => Promise<void>) {
    this.#work = work
  }

  /** Resolves when the work was done that began at this call or later; rejects when that failed. */
  run(): Promise<void> {
    if (this.#running === undefined) {
      this.#running = this.#work().finally(() => (this.#running = undefined))
      return this.#running
    }
    this.#next ??= this.#running.then(
      () => this.#runNext(),
      () => this.#runNext(),
    )
    return this.#next
  }

  #runNext(): Promise<void> {
    this.#next = undefined
    return this.run()
  }
}
