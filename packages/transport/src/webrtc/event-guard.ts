/**
 * Runs the event handlers of a peer connection. What one throws ends the connection and goes no further (in native code it
 * would abort the process); none runs after the connection is closed.
 */
export class EventGuard {
  readonly #end: { close(): void; onClose(text: string): void }
  #closed = false

  /** `close` ends the connection; `onClose` is called with the reason of a failure. */
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
      // Its owner was told; nobody else needs to know.
    }
  }
}
