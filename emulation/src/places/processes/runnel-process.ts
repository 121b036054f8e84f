import { spawn, type ChildProcess } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { emulationError } from '../../errors.ts'

/** The command that users run. */
const runnel = fileURLToPath(new URL('../../../../packages/node/bin/runnel.js', import.meta.url))

/** How long a process may take to stop before it is killed. */
const stopGraceMs = 10_000
/** By which a run of the tests knows what it has left: scripts/left. */
const runVariable = 'STARTED_BY_TEST_RUN'
/** Log lines kept to explain a death. */
const keptLines = 5

export interface RunnelProcessOptions {
  readonly name: string
  readonly args: readonly string[]
  /** The JavaScript file to run; default: the `runnel` command. */
  readonly program?: string
  readonly env?: Readonly<Record<string, string>>
  readonly logFile: string
  /** Wraps a command so that it runs where the process belongs; default: unchanged. */
  readonly within?: (command: readonly string[]) => readonly string[]
  /** Called with what it says after that it runs; default: it is not heard. */
  onMessage?(message: unknown): void
  /** Called when it ends without having been told to. */
  onDeath(how: string): void
}

/**
 * A real `runnel` process. It ends when this one does, however that ends: the channel between the two breaks, and `runnel`
 * takes that for a signal to stop.
 */
export class RunnelProcess {
  readonly #options: RunnelProcessOptions
  readonly #lastLines: string[] = []
  readonly #exited = Promise.withResolvers<string>()
  #child: ChildProcess | undefined
  #isEnding = false

  constructor(options: RunnelProcessOptions) {
    this.#options = options
  }

  /** Resolves when it says that it runs. Rejects with PROCESS_FAILED when it ends before, or the signal aborts. */
  async start(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { program = runnel, args, env = {}, within = (command) => command } = this.#options
    const [command = '', ...rest] = within([process.execPath, program, ...args])
    // In a group of its own: a Ctrl-C reaches this process alone, which then ends all in order.
    const child = spawn(command, rest, {
      detached: true,
      env: { PATH: process.env['PATH'], [runVariable]: process.env[runVariable], ...env },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    this.#child = child
    this.#keepLog(child)
    const ready = Promise.withResolvers<void>()
    child.on('message', (message) => {
      ready.resolve()
      this.#options.onMessage?.(message)
    })
    child.once('error', (error) => this.#exited.resolve(error.message))
    child.once('close', (code, killedBy) => this.#exited.resolve(killedBy ?? `exit code ${code}`))
    void this.#exited.promise.then((how) => this.#ended(how, ready.reject))
    const onAbort = (): void => {
      ready.reject(signal.reason)
      void this.stop()
    }
    signal.addEventListener('abort', onAbort)
    try {
      await ready.promise
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** Ends it as a power cut would. */
  async kill(): Promise<void> {
    this.#isEnding = true
    this.#child?.kill('SIGKILL')
    // What it has started may live, and hold this open: it is closed all the same.
    this.#child?.stderr?.destroy()
    if (this.#child !== undefined) await this.#exited.promise
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#isEnding = true
    if (this.#child === undefined) return
    const timer = setTimeout(() => void this.kill(), stopGraceMs)
    this.#child.kill('SIGTERM')
    await this.#exited.promise
    clearTimeout(timer)
  }

  #ended(how: string, reject: (error: unknown) => void): void {
    const { name, onDeath } = this.#options
    const detail = [how, ...this.#lastLines].join('; ')
    reject(emulationError('PROCESS_FAILED', `${name}: ${detail}`))
    if (!this.#isEnding) onDeath(detail)
  }

  #keepLog({ stderr }: ChildProcess): void {
    if (stderr === null) return
    stderr.pipe(createWriteStream(this.#options.logFile, { flags: 'a', mode: 0o600 }))
    createInterface({ input: stderr }).on('line', (line) => {
      this.#lastLines.push(line)
      if (this.#lastLines.length > keptLines) this.#lastLines.shift()
    })
  }
}
