/** Work that nobody waits for at once; what fails is told. */
export class Background {
  readonly #onProblem: (error: unknown) => void
  #done: Promise<void> = Promise.resolve()

  constructor(modules: { readonly onProblem: (error: unknown) => void }) {
    this.#onProblem = modules.onProblem
  }

  run(work: () => Promise<void>): void {
    const done = work().catch((error: unknown) => this.#onProblem(error))
    this.#done = Promise.all([this.#done, done]).then(() => {})
  }

  /** Resolves when all that was begun so far has ended. */
  async settled(): Promise<void> {
    await this.#done
  }
}
