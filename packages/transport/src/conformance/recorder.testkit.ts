import type { CloseReason, Connection } from '../ports.ts'

/** Owns a connection in a test: keeps what arrives and lets the test wait for it. */
export class Recorder {
  readonly connection: Connection
  readonly packets: { readonly type: number; readonly body: Uint8Array }[] = []
  readonly closed: Promise<CloseReason>
  reasons: CloseReason[] = []
  drains = 0
  #waiting: { readonly isDone: () => boolean; readonly resolve: () => void }[] = []

  constructor(connection: Connection) {
    this.connection = connection
    const { promise, resolve } = Promise.withResolvers<CloseReason>()
    this.closed = promise
    connection.events = {
      onPacket: (type, body) => {
        this.packets.push({ type, body: body.slice() })
        this.#check()
      },
      onDrain: () => {
        this.drains++
        this.#check()
      },
      onClose: (reason) => {
        this.reasons.push(reason)
        resolve(reason)
        this.#check()
      },
    }
  }

  /** Resolves when the condition holds after an arrival; never rejects, so that a test that waits in vain times out. */
  until(isDone: () => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({ isDone, resolve })
    this.#check()
    return promise
  }

  count(packets: number): Promise<void> {
    return this.until(() => this.packets.length >= packets)
  }

  #check(): void {
    this.#waiting = this.#waiting.filter(({ isDone, resolve }) => {
      const done = isDone()
      if (done) resolve()
      return !done
    })
  }
}
