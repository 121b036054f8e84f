import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { benchError } from '../errors.ts'
import type { RelayAnswer, RelayOrder } from './relay-child.ts'

/** The relay under test, in a process of its own. */
export class RelayProcess {
  readonly #child: ChildProcess
  onSignal: (answer: Extract<RelayAnswer, { is: 'signal' }>) => void = () => {}

  constructor() {
    this.#child = fork(fileURLToPath(new URL('relay-child.ts', import.meta.url)), {
      execArgv: ['--conditions=runnel-src'],
    })
    this.#child.on('message', (answer: RelayAnswer) => answer.is === 'signal' && this.onSignal(answer))
  }

  tell(order: RelayOrder): void {
    this.#child.send(order)
  }

  /** Resolves with the first answer of a kind from now on. */
  answer<Kind extends RelayAnswer['is']>(kind: Kind): Promise<Extract<RelayAnswer, { is: Kind }>> {
    return new Promise((resolve, reject) => {
      const onMessage = (answer: RelayAnswer) => {
        if (answer.is !== kind) return
        this.#child.off('message', onMessage)
        resolve(answer as Extract<RelayAnswer, { is: Kind }>)
      }
      this.#child.on('message', onMessage)
      this.#child.once('exit', (code) =>
        reject(benchError('CHILD_FAILED', `the relay ended with code ${code}`)),
      )
    })
  }

  /** CPU the relay uses while `work` runs, in microseconds. */
  async cpuUsDuring(work: () => Promise<void>): Promise<number> {
    const read = () => {
      const reading = this.answer('cpu')
      this.tell({ do: 'cpu' })
      return reading
    }
    const before = await read()
    await work()
    return (await read()).us - before.us
  }

  stop(): void {
    this.#child.removeAllListeners('exit')
    this.#child.kill()
  }
}
