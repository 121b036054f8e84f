import { timingSafeEqual, createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import { ownVersion } from '../../cli/own-version.ts'
import { describeError } from '../../cli/describe-error.ts'
import { nodeError } from '../../errors.ts'
import { LocalGenerator, type ClockOffset } from '../load/local-generator.ts'
import { preciseNow } from '../load/metronome.ts'
import { openFileLimit } from '../load/open-file-limit.ts'
import { maxCallBytes, type CallAnswer, type CallName, type CallRequest, type WorkerCalls } from './calls.ts'

export interface WorkerOptions {
  readonly host: string
  readonly port: number
  /** Whoever knows it may have this machine open any number of users. */
  readonly token: string
  readonly name: string
}

/** A process that obeys a driver, one at a time. */
export interface BenchWorker {
  /** host:port. */
  readonly place: string
  /** Idempotent. */
  stop(): Promise<void>
}

/** Throws PORT_IN_USE. */
export async function startWorker({ host, port, token, name }: WorkerOptions): Promise<BenchWorker> {
  const server = createServer((_, response) => response.writeHead(426).end())
  const sockets = new WebSocketServer({ noServer: true, maxPayload: maxCallBytes })
  let driver: Driver | undefined
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const refusal = !isToken(request.headers.authorization, token)
      ? '401 Unauthorized'
      : driver && '409 Conflict'
    if (refusal) return void socket.end(`HTTP/1.1 ${refusal}\r\nconnection: close\r\n\r\n`)
    sockets.handleUpgrade(request, socket, head, (accepted) => {
      const free = () => {
        if (driver === served) driver = undefined
      }
      const served = new Driver(accepted, { name, onStop: free })
      driver = served
      accepted.once('close', () => void served.stop().finally(free))
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(nodeError('BENCH_WORKER_PORT', `${host}:${port}: ${cause.message}`, { cause })),
    )
    server.listen(port, host, resolve)
  })
  const address = server.address() as AddressInfo
  return {
    place: `${host}:${address.port}`,
    stop: async () => {
      await driver?.stop()
      for (const client of sockets.clients) client.terminate()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** In the same time, however much of it is right. */
function isToken(header: string | undefined, token: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(header ?? ''), hash(`Bearer ${token}`))
}

type CallTable = {
  readonly [N in CallName]: (request: Parameters<WorkerCalls[N]>[0]) => Promise<ReturnType<WorkerCalls[N]>>
}

interface DriverOptions {
  readonly name: string
  /** Its users are closed: another driver may come. */
  onStop(): void
}

/** What a worker does for one driver. Each run has a generator of its own. */
class Driver {
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
        Promise.resolve({ name: this.#options.name, version: ownVersion(), openFiles: openFileLimit() }),
      clock: () => Promise.resolve({ nowMs: preciseNow() }),
      setClock: (clock) => {
        this.#clock = clock
        return Promise.resolve({})
      },
      open: async ({ plan, place, share }) => {
        await this.#generator.open(plan, place, share, signal)
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
        await this.#generator.stop()
        this.#options.onStop()
        return {}
      },
    }
  }
}
