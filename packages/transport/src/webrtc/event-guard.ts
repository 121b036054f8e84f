/**
 * The end of a peer connection's events: runs their handlers so that what one throws ends the connection and goes no further
 * (in native code it would abort the process), and none after the connection is closed.
 */
export class EventGuard {
  readonly #end: { close(): void; onClose(text: string): void }
  #closed = false

  /** `close` ends the connection itself; `onClose` is told why it failed. */
  constructor(end: { close(): void; onClose(text: string): void }) {
    this.#end = end
  }

  readonly run = (handler: () => void): void => {
    if (this.#closed) return
    try {
      handler()
    } catch (error) {
      this.fail(`an event handler threw: ${String(error)}`)
    }
  }

  /** Idempotent. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#end.close()
  }

  fail(text: string): void {
    this.close()
    try {
      this.#end.onClose(text)
    } catch {
      // Its owner was told; there is nobody else to tell.
    }
  }
}
