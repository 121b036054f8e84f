/** What is loaded when it is first used: few pages need it. */
export class Lazy<T> {
  readonly #load: () => Promise<T>
  #loading: Promise<T> | undefined
  #loaded: T | undefined

  constructor(load: () => Promise<T>) {
    this.#load = load
  }

  /** Undefined until it is loaded. */
  get now(): T | undefined {
    return this.#loaded
  }

  async get(): Promise<T> {
    this.#loading ??= this.#load().then(
      (loaded) => (this.#loaded = loaded),
      (error: unknown) => {
        // A page may be without a network just now.
        this.#loading = undefined
        throw error
      },
    )
    return this.#loading
  }
}
