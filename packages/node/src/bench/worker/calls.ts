import { WebSocket } from 'ws'
import { nodeError } from '../../errors.ts'
import type { LoadPlan, Share, UserKind } from '../core/plan.ts'
import type { LoadResult, LoadSample, LoadWindow } from '../load/generator.ts'
import type { ClockOffset } from '../load/local-generator.ts'
import type { UserPlace } from '../users/user.ts'

/** What a driver asks of a worker, each by name, with what it gives and gets. */
export interface WorkerCalls {
  hello(request: { readonly version: string }): WorkerHello
  /** Fails where the worker's machine cannot listen on an address, or lacks what users need: the driver throws BENCH_WORKER_FAILED. */
  check(request: { readonly host: string; readonly kind: UserKind }): Record<never, never>
  /** The worker's clock now. */
  clock(request: Record<never, never>): { readonly nowMs: number }
  setClock(request: ClockOffset): Record<never, never>
  open(request: {
    readonly plan: LoadPlan
    readonly place: UserPlace
    readonly share: Share
  }): Record<never, never>
  introduce(request: Record<never, never>): Record<never, never>
  missing(request: Record<never, never>): { readonly missing: readonly string[] }
  run(request: LoadWindow): Record<never, never>
  sample(request: Record<never, never>): LoadSample
  result(request: Record<never, never>): LoadResult
  stop(request: Record<never, never>): { readonly unclosed: readonly string[] }
}

export interface WorkerHello {
  readonly name: string
  readonly version: string
  readonly openFiles: number | undefined
}

export type CallName = keyof WorkerCalls

/** A request or an answer, as JSON in a WebSocket message. */
export type CallRequest = { readonly id: number; readonly call: CallName; readonly request: unknown }
export type CallAnswer =
  | { readonly id: number; readonly answer: unknown }
  | {
      readonly id: number
      readonly error: { readonly code: string; readonly message: string; readonly remedy: string }
    }

/** Largest message; a plan with many stream parts makes it large. */
export const maxCallBytes = 32 * 1024 * 1024
/** How long a worker may take to let a driver in. */
const connectTimeoutMs = 10_000
/** How long a worker may take to answer a call that does not itself wait; other calls are bounded by the run. */
const answerTimeoutMs = 30_000
const waitingCalls: ReadonlySet<CallName> = new Set(['open', 'run'])

/** Throws USAGE. */
function dial(place: string, token: string): WebSocket {
  try {
    return new WebSocket(`ws://${place}/`, {
      headers: { authorization: `Bearer ${token}` },
      handshakeTimeout: connectTimeoutMs,
      maxPayload: maxCallBytes,
    })
  } catch (cause) {
    throw nodeError('USAGE', `--worker ${place}: no host:port`, { cause })
  }
}

/** What a worker, or another kind of server, means by an HTTP status. */
function refusalOf(place: string, status = 0): Error {
  if (status === 401) return nodeError('BENCH_WORKER_REFUSED', `${place}: wrong token`)
  if (status === 409) return nodeError('BENCH_WORKER_REFUSED', `${place}: it has as many drivers as it takes`)
  return nodeError('BENCH_WORKER_UNREACHABLE', `${place} is no bench worker: it answered ${status}`)
}

/** The driver's end of a connection to a worker. */
export class WorkerConnection {
  readonly #socket: WebSocket
  readonly #place: string
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  #nextId = 0

  private constructor(socket: WebSocket, place: string) {
    this.#socket = socket
    this.#place = place
    socket.on('message', (data: Buffer) => this.#onMessage(data))
    socket.on('error', () => {})
    socket.on('close', () => this.#rejectAll(nodeError('BENCH_WORKER_LOST', place)))
  }

  /** `place` is host:port. Throws USAGE where it is not, BENCH_WORKER_UNREACHABLE or BENCH_WORKER_REFUSED. */
  static async open(place: string, token: string): Promise<WorkerConnection> {
    const socket = dial(place, token)
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve)
      socket.once('unexpected-response', (_, { statusCode }) => {
        reject(refusalOf(place, statusCode))
        socket.terminate()
      })
      socket.once('error', (cause) =>
        reject(nodeError('BENCH_WORKER_UNREACHABLE', `${place}: ${cause.message}`, { cause })),
      )
    })
    return new WorkerConnection(socket, place)
  }

  /** Throws what the worker threw, BENCH_WORKER_LOST, or BENCH_WORKER_FAILED where it does not answer in time. */
  call<N extends CallName>(
    call: N,
    request: Parameters<WorkerCalls[N]>[0],
  ): Promise<ReturnType<WorkerCalls[N]>> {
    if (this.#socket.readyState !== WebSocket.OPEN)
      return Promise.reject(nodeError('BENCH_WORKER_LOST', this.#place))
    const id = this.#nextId++
    const waiting = Promise.withResolvers<unknown>()
    this.#waiting.set(id, waiting)
    this.#socket.send(JSON.stringify({ id, call, request } satisfies CallRequest))
    if (waitingCalls.has(call)) return waiting.promise as Promise<ReturnType<WorkerCalls[N]>>
    const late = () =>
      waiting.reject(nodeError('BENCH_WORKER_FAILED', `${this.#place} did not answer "${call}" in time`))
    const timer = setTimeout(late, answerTimeoutMs)
    const forget = () => {
      clearTimeout(timer)
      this.#waiting.delete(id)
    }
    return waiting.promise.finally(forget) as Promise<ReturnType<WorkerCalls[N]>>
  }

  /** At once: one that does not answer would be waited for. */
  close(): void {
    this.#socket.terminate()
  }

  /** Another kind of server may answer at that place, with anything. */
  #onMessage(data: Buffer): void {
    try {
      this.#settle(JSON.parse(data.toString('utf8')) as CallAnswer)
    } catch (cause) {
      this.#rejectAll(nodeError('BENCH_WORKER_FAILED', `${this.#place} is no bench worker`, { cause }))
      this.#socket.terminate()
    }
  }

  #rejectAll(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }

  #settle(answer: CallAnswer): void {
    const waiting = this.#waiting.get(answer.id)
    if ('answer' in answer) waiting?.resolve(answer.answer)
    else {
      const { message, code } = answer.error
      waiting?.reject(nodeError('BENCH_WORKER_FAILED', `${this.#place}: ${message} (${code})`))
    }
    this.#waiting.delete(answer.id)
  }
}
