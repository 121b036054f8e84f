import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { benchError } from '../errors.ts'
import type { BareSignal } from '../bare/bare-data-channel.ts'
import type { ResendCalls } from './resend-child.ts'

type Answer =
  | { readonly signal: BareSignal }
  | { readonly id: number; readonly result?: unknown; readonly error?: string }

/** A storage node or a reader, in a process of its own. */
export class ResendProcess {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  #lastId = 0
  onSignal: (signal: BareSignal) => void = () => {}

  constructor() {
    this.#child = fork(fileURLToPath(new URL('resend-child.ts', import.meta.url)), {
      execArgv: ['--conditions=runnel-src', '--expose-gc'],
    })
    this.#child.on('message', (answer: Answer) => {
      if ('signal' in answer) return this.onSignal(answer.signal)
      const waiting = this.#waiting.get(answer.id)
      this.#waiting.delete(answer.id)
      if (answer.error === undefined) waiting?.resolve(answer.result)
      else waiting?.reject(new Error(answer.error))
    })
    this.#child.on('exit', (code) => {
      for (const { reject } of this.#waiting.values())
        reject(benchError('CHILD_FAILED', `a node ended with code ${code}`))
    })
  }

  call<Name extends keyof ResendCalls>(
    name: Name,
    ...args: Parameters<ResendCalls[Name]>
  ): Promise<Awaited<ReturnType<ResendCalls[Name]>>> {
    const id = ++this.#lastId
    const waiting = Promise.withResolvers<unknown>()
    this.#waiting.set(id, waiting)
    this.#child.send({ id, name, args })
    return waiting.promise as Promise<Awaited<ReturnType<ResendCalls[Name]>>>
  }

  /** Resolves when it has ended. */
  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.disconnect()
    await ended
  }
}
