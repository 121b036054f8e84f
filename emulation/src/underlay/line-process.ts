import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** The last of what the process says on standard error that is kept to explain its end. */
const maxKeptText = 2_000

interface Waiting {
  readonly resolve: (line: string) => void
  readonly reject: (error: Error) => void
}

/**
 * A child process that answers every line of its standard input with one, in order, and ends with its standard input: it never outlives this
 * process, whatever ends that.
 */
export class LineProcess {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #closed: Promise<unknown>
  readonly #failed = new AbortController()
  readonly #failure: (detail: string) => Error
  readonly #waiting: Waiting[] = []
  #isOver = false
  #lastWords = ''

  /** `failure` makes the error that everything rejects with once the process has ended. */
  constructor(command: string, args: readonly string[], failure: (detail: string) => Error) {
    this.#failure = failure
    // In a group of its own: a Ctrl-C reaches this process alone, which then ends all in order.
    const child = spawn(command, args, { stdio: 'pipe', detached: true })
    this.#child = child
    this.#closed = once(child, 'close')
      .catch((error: unknown) => this.#hear(String(error)))
      .then(() => this.#ended())
    // Writing to one that has ended: what waits is rejected when it closes.
    child.stdin.on('error', () => {})
    child.stderr.setEncoding('utf8').on('data', (text: string) => this.#hear(text))
    createInterface({ input: child.stdout }).on('line', (line) => this.#waiting.shift()?.resolve(line))
  }

  /** Aborts with the reason when it has ended unexpectedly. */
  get failed(): AbortSignal {
    return this.#failed.signal
  }

  async ask(line: string): Promise<string> {
    if (this.#isOver || this.#child.stdin.writableEnded) throw this.#failure(this.#how())
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#child.stdin.write(`${line}\n`)
    })
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#child.stdin.end()
    await this.#closed
  }

  #hear(text: string): void {
    this.#lastWords = (this.#lastWords + text).slice(-maxKeptText)
  }

  #how(): string {
    return this.#lastWords.trim() || 'it has ended'
  }

  #ended(): void {
    this.#isOver = true
    const error = this.#failure(this.#how())
    for (const { reject } of this.#waiting.splice(0)) reject(error)
    if (!this.#child.stdin.writableEnded) this.#failed.abort(error)
  }
}
