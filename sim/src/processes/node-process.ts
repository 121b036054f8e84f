import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { NodeId } from '@runnel/protocol'
import type { ChainEnd, NodeAnswer, NodeReport, StartOrder } from './node-child.ts'

/** A node in a process of its own, seen from the one that started it. */
export class NodeProcess {
  readonly name: string
  readonly #child: ChildProcess
  readonly #exited: Promise<void>
  /** Called for each message it has published. */
  onPublished: () => void = () => {}

  constructor(name: string) {
    this.name = name
    this.#child = fork(fileURLToPath(new URL('node-child.ts', import.meta.url)), {
      execArgv: ['--conditions=runnel-src'],
    })
    this.#exited = new Promise((resolve) => this.#child.once('exit', () => resolve()))
    this.#child.on('message', ({ is }: NodeAnswer) => is === 'published' && this.onPublished())
  }

  /** Resolves when it runs and has a neighbour, with the id it publishes under. */
  async start(order: Omit<StartOrder, 'do'>): Promise<NodeId> {
    const ready = this.#answer('ready')
    this.#child.send({ do: 'start', ...order })
    return (await ready).publisherId
  }

  /** Resolves when it has published all of them. */
  publish(messages: number, intervalMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    let published = 0
    const onPublished = this.onPublished
    this.onPublished = () => {
      onPublished()
      if (++published === messages) resolve()
    }
    this.#child.send({ do: 'publish', messages, intervalMs })
    return promise
  }

  /** Resolves with what its application was given, once that is everything or the time is over. */
  report(chains: readonly ChainEnd[], limitMs: number): Promise<NodeReport> {
    const report = this.#answer('report')
    this.#child.send({ do: 'report', chains, limitMs })
    return report
  }

  /** SIGKILL; resolves when the process has ended. */
  kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    return this.#exited
  }

  #answer<Kind extends NodeAnswer['is']>(kind: Kind): Promise<Extract<NodeAnswer, { is: Kind }>> {
    const { promise, resolve, reject } = Promise.withResolvers<Extract<NodeAnswer, { is: Kind }>>()
    const onMessage = (answer: NodeAnswer): void => {
      if (answer.is === kind) settle(() => resolve(answer as Extract<NodeAnswer, { is: Kind }>))
    }
    const onExit = (): void => settle(() => reject(new Error(`${this.name} ended before it was ${kind}`)))
    const settle = (how: () => void): void => {
      this.#child.off('message', onMessage)
      this.#child.off('exit', onExit)
      how()
    }
    this.#child.on('message', onMessage)
    this.#child.once('exit', onExit)
    return promise
  }
}
