/** Handles items one after the other: an item that comes while another is handled is queued. `handle` must not throw. */
export class Sequence<T> {
  readonly #handle: (item: T) => void
  readonly #waiting: T[] = []
  #running = false

  constructor(handle: (item: T) => void) {
    this.#handle = handle
  }

  run(item: T): void {
    if (this.#running) {
      this.#waiting.push(item)
      return
    }
    this.#running = true
    try {
      this.#handle(item)
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
        this.#handle(next)
      }
    } finally {
      this.#running = false
    }
  }
}
