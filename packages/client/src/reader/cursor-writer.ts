import { Alarm, backoffMs, isRunnelError, type Clock, type ReaderCursor } from '@runnel/protocol'
import { readerLimits } from './limits.ts'

export interface CursorWriterModules {
  readonly clock: Clock
  /** What is to be stored now, and which version of it that is. */
  readonly cursor: () => { readonly cursor: ReaderCursor; readonly version: number }
  readonly version: () => number
  /** Resolves when a storage node has it. */
  readonly write: (cursor: ReaderCursor) => Promise<void>
  /** It was not stored, and is tried again. */
  readonly onFailed: (error: unknown) => void
}

interface Waiter {
  readonly version: number
  resolve(): void
  reject(error: unknown): void
}

/** Has the cursor stored after changes: many together, and one after the other. */
export class CursorWriter {
  readonly #modules: CursorWriterModules
  readonly #alarm: Alarm
  #stored: number
  #beganMs = -Infinity
  #failures = 0
  #isWriting = false
  #waiting: Waiter[] = []
  #closed: Error | undefined

  /** `stored`: the version that storage nodes have. */
  constructor(options: { readonly stored: number }, modules: CursorWriterModules) {
    this.#stored = options.stored
    this.#modules = modules
    this.#alarm = new Alarm({ onDue: () => void this.#write() }, modules)
  }

  /** Something may have changed. */
  touch(): void {
    if (this.#closed !== undefined || this.#isWriting || this.#modules.version() <= this.#stored) return
    const { cursorIntervalMs, minCursorIntervalMs, minReaderBackoffMs, maxReaderBackoffMs } = readerLimits
    const pauseMs = this.#waiting.length > 0 ? minCursorIntervalMs : cursorIntervalMs
    const failedMs =
      this.#failures === 0 ? 0 : backoffMs(this.#failures, minReaderBackoffMs, maxReaderBackoffMs)
    this.#alarm.set(this.#beganMs + Math.max(pauseMs, failedMs))
  }

  /** Resolves when a storage node has all that there is until now. Rejects when it could not be stored; it is tried again all the same. */
  flush(): Promise<void> {
    const version = this.#modules.version()
    if (version <= this.#stored) return Promise.resolve()
    if (this.#closed !== undefined) return Promise.reject(this.#closed)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ version, resolve, reject })
      this.touch()
    })
  }

  /** Writes no more. Idempotent. */
  close(reason: Error): void {
    this.#closed = reason
    this.#alarm.set(Infinity)
    for (const { reject } of this.#waiting.splice(0)) reject(reason)
  }

  async #write(): Promise<void> {
    if (this.#closed !== undefined || this.#isWriting) return
    this.#isWriting = true
    this.#beganMs = this.#modules.clock.monotonicMs()
    const { cursor, version } = this.#modules.cursor()
    try {
      await this.#modules.write(cursor)
      this.#stored = Math.max(this.#stored, version)
      this.#failures = 0
      this.#settle(version)
    } catch (error) {
      // Whoever waited has been told, and nobody else is to know.
      if (this.#closed !== undefined) return
      if (!isRunnelError(error)) throw error
      this.#failures++
      this.#modules.onFailed(error)
      for (const { reject } of this.#waiting.splice(0)) reject(error)
    } finally {
      this.#isWriting = false
      this.touch()
    }
  }

  #settle(version: number): void {
    const [done, left] = [[], []] as [Waiter[], Waiter[]]
    for (const waiter of this.#waiting) (waiter.version <= version ? done : left).push(waiter)
    this.#waiting = left
    for (const { resolve } of done) resolve()
  }
}
