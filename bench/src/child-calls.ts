import type { ChildProcess } from 'node:child_process'
import { benchError } from './errors.ts'

/** What a process can be asked to do: functions whose arguments and results survive JSON. */
export type Calls = { readonly [name: string]: (...args: never[]) => unknown }

interface Question {
  readonly id: number
  readonly name: string
  readonly args: readonly unknown[]
}

interface Answer {
  readonly id: number
  readonly result?: unknown
  readonly error?: string
}

/** Answers the calls of the process that started this one, and ends with it. */
export function answerCalls(calls: Calls): void {
  // Errors are part of the answer.
  process.on('message', (question: Question) => void answerCall(calls, question))
  process.on('disconnect', () => process.exit(0))
}

async function answerCall(calls: Calls, { id, name, args }: Question): Promise<void> {
  try {
    const result = await calls[name]?.(...(args as never[]))
    process.send?.({ id, result } satisfies Answer)
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}

/** Calls functions of a child process. Calls reject with CHILD_FAILED when it does not start or has ended. */
export class ChildCalls<C extends Calls> {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  #lastId = 0
  /** How it ended, or why it did not start. */
  #ended: string | undefined

  constructor(child: ChildProcess) {
    this.#child = child
    child.on('message', ({ id, result, error }: Answer) => {
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (error === undefined) waiting?.resolve(result)
      else waiting?.reject(new Error(error))
    })
    child.on('exit', (code, signal) => this.#end(`the process ended: ${signal ?? code}`))
    child.on('error', ({ message }) => this.#end(message))
  }

  call<Name extends keyof C & string>(
    name: Name,
    ...args: Parameters<C[Name]>
  ): Promise<Awaited<ReturnType<C[Name]>>> {
    const id = ++this.#lastId
    const waiting = Promise.withResolvers<unknown>()
    this.#waiting.set(id, waiting)
    if (this.#ended !== undefined) this.#end(this.#ended)
    else if (this.#child.pid !== undefined) this.#child.send({ id, name, args })
    return waiting.promise as Promise<Awaited<ReturnType<C[Name]>>>
  }

  /** Resolves when the process has ended. */
  async stop(): Promise<void> {
    if (this.#ended !== undefined || this.#child.pid === undefined) return
    const ended = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.disconnect()
    await ended
  }

  #end(how: string): void {
    this.#ended = how
    for (const { reject } of this.#waiting.values()) reject(benchError('CHILD_FAILED', how))
    this.#waiting.clear()
  }
}
