import { Worker, type Transferable } from 'node:worker_threads'
import { storageError } from '../../errors.ts'
import type { Operations } from './operations.ts'
import type { StoreFailure } from './sqlite-errors.ts'

export interface ThreadData {
  readonly role: 'writer' | 'reader'
  /** Of the database. */
  readonly path: string
}

export interface ThreadRequest {
  readonly id: number
  readonly operation: string
  readonly argument: unknown
}

export type ThreadAnswer =
  { readonly id: number; readonly result: unknown } | { readonly id: number; readonly failure: StoreFailure }

interface Waiting {
  resolve(result: unknown): void
  reject(error: Error): void
}

type Argument<O, K extends keyof O> = O[K] extends (argument: infer A) => unknown ? A : never
type Result<O, K extends keyof O> = O[K] extends (argument: never) => infer R ? Awaited<R> : never

/** Requests that wait for one thread. */
const maxWaitingRequests = 1000

/** Runs from the sources as from the build. */
const isSource = import.meta.url.endsWith('.ts')
const entry = new URL(isSource ? './sqlite-worker.ts' : './sqlite-worker.js', import.meta.url)

/** A thread that works on a database; started with the first request, and again should it ever end by itself. */
export class StoreThread<O extends Operations> {
  readonly #data: ThreadData
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #nextId = 0

  constructor(data: ThreadData) {
    this.#data = data
  }

  /** Throws what the operation throws, STORE_OVERLOADED, or STORE_UNAVAILABLE when the thread ends meanwhile. */
  call<K extends keyof O & string>(
    operation: K,
    argument: Argument<O, K>,
    transfer: readonly Transferable[] = [],
  ): Promise<Result<O, K>> {
    if (this.#waiting.size >= maxWaitingRequests) {
      return Promise.reject(
        storageError('STORE_OVERLOADED', `${maxWaitingRequests} requests to ${this.#data.path}`),
      )
    }
    const worker = (this.#worker ??= this.#start())
    const id = this.#nextId++
    return new Promise<Result<O, K>>((resolve, reject) => {
      this.#waiting.set(id, { resolve: (result) => resolve(result as Result<O, K>), reject })
      const request: ThreadRequest = { id, operation, argument }
      worker.postMessage(request, transfer)
    })
  }

  /** Ends the thread after what was asked before. Idempotent. */
  async stop(): Promise<void> {
    const worker = this.#worker
    if (worker === undefined) return
    const ended = new Promise((resolve) => worker.once('exit', resolve))
    worker.postMessage({ id: -1, operation: 'close', argument: undefined } satisfies ThreadRequest)
    await ended
  }

  #start(): Worker {
    const worker = new Worker(entry, {
      workerData: this.#data,
      name: `store-${this.#data.role}`,
      ...(isSource ? { execArgv: ['--conditions=runnel-src'] } : {}),
    })
    let cause: unknown
    worker.on('message', (answer: ThreadAnswer) => this.#settle(answer))
    worker.on('error', (error: unknown) => (cause = error))
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
      const { path, role } = this.#data
      const error = storageError('STORE_UNAVAILABLE', `${path}: the ${role}'s thread ended`, { cause })
      for (const { reject } of this.#waiting.values()) reject(error)
      this.#waiting.clear()
    })
    return worker
  }

  #settle(answer: ThreadAnswer): void {
    const waiting = this.#waiting.get(answer.id)
    if (waiting === undefined) return
    this.#waiting.delete(answer.id)
    if ('failure' in answer)
      waiting.reject(storageError(answer.failure.code, answer.failure.detail || undefined))
    else waiting.resolve(answer.result)
  }
}
