import type { WebSocket } from 'ws'
import { describeError } from '../../cli/describe-error.ts'
import { nodeError } from '../../errors.ts'
import { LocalGenerator, type ClockOffset } from '../load/local-generator.ts'
import { preciseNow } from '../load/metronome.ts'
import { requireListen } from '../network/require-listen.ts'
import { openFileLimit } from '../load/open-file-limit.ts'
import { requireKind } from '../users/require-kind.ts'
import type { CallAnswer, CallName, CallRequest, WorkerCalls } from './calls.ts'
import { workerVersion } from './worker-version.ts'

type CallTable = {
  readonly [N in CallName]: (request: Parameters<WorkerCalls[N]>[0]) => Promise<ReturnType<WorkerCalls[N]>>
}

interface DriverOptions {
  readonly name: string
  /** Its users are closed: another driver may come. */
  onStop(): void
}

/** What a worker does for one driver. Each run has a generator of its own. */
export class DriverSession {
  readonly #options: DriverOptions
  readonly #gone = new AbortController()
  #clock: ClockOffset = { offsetMs: 0, errorMs: 0 }
  #generator: LocalGenerator
  readonly #calls: CallTable

  constructor(socket: WebSocket, options: DriverOptions) {
    this.#options = options
    this.#generator = new LocalGenerator(options.name, () => this.#clock)
    this.#calls = this.#callTable()
    socket.on(
      'message',
      (data: Buffer) => void this.#answer(data).then((answer) => socket.send(JSON.stringify(answer))),
    )
    socket.on('error', () => {})
  }

  /** The driver is gone: its users go, too. Idempotent. */
  async stop(): Promise<void> {
    this.#gone.abort()
    await this.#generator.stop()
  }

  async #answer(data: Buffer): Promise<CallAnswer> {
    let id = -1
    try {
      const { id: given, call, request } = JSON.parse(data.toString('utf8')) as CallRequest
      id = given
      if (!Object.hasOwn(this.#calls, call)) throw nodeError('BENCH_WORKER_VERSION', `a call ${String(call)}`)
      const handler = this.#calls[call] as (request: unknown) => Promise<unknown>
      return { id, answer: await handler(request) }
    } catch (error) {
      const { code, message, remedy = '' } = describeError(error)
      return { id, error: { code, message, remedy } }
    }
  }

  #callTable(): CallTable {
    const { signal } = this.#gone
    return {
      hello: () =>
        Promise.resolve({ name: this.#options.name, version: workerVersion(), openFiles: openFileLimit() }),
      check: async ({ host, kind }) => {
        await requireListen(host)
        await requireKind(kind)
        return {}
      },
      clock: () => Promise.resolve({ nowMs: preciseNow() }),
      setClock: (clock) => {
        this.#clock = clock
        return Promise.resolve({})
      },
      open: async ({ plan, place, share }) => {
        await this.#generator.open(plan, place, share, signal)
        return {}
      },
      introduce: async () => {
        await this.#generator.introduce()
        return {}
      },
      missing: async () => ({ missing: await this.#generator.missing() }),
      run: async (window) => {
        await this.#generator.run(window, signal)
        return {}
      },
      sample: () => this.#generator.sample(),
      result: () => this.#generator.result(),
      stop: async () => {
        const unclosed = await this.#generator.stop()
        this.#options.onStop()
        return { unclosed }
      },
    }
  }
}
