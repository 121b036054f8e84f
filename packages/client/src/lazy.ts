import type { Gate } from './gate.ts'

/** What is loaded when it is first used, while the client is open: few pages need it. */
export class Lazy<T> {
  readonly #gate: Pick<Gate, 'requireOpen'>
  readonly #load: () => Promise<T>
  #loading: Promise<T> | undefined
  #loaded: T | undefined

  constructor(gate: Pick<Gate, 'requireOpen'>, load: () => Promise<T>) {
    this.#gate = gate
    this.#load = load
  }

  /** Undefined until it is loaded. */
  get now(): T | undefined {
    return this.#loaded
  }

  /** Throws CLIENT_CLOSED, also where the client was closed meanwhile, and what loading throws. */
  async get(): Promise<T> {
    this.#loading ??= this.#load().then(
      (loaded) => (this.#loaded = loaded),
      (error: unknown) => {
        // A page may be without a network just now.
        this.#loading = undefined
        throw error
      },
    )
    const loaded = await this.#loading
    this.#gate.requireOpen()
    return loaded
  }
}
