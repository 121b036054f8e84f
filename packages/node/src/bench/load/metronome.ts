import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/**
 * Waits on a futex for a fraction of a millisecond, which timers of the event loop cannot, and knocks. Plain JavaScript, as
 * it must run from sources, from what the compiler made, and from a bundle.
 */
const thread = `
const { parentPort, workerData } = require('node:worker_threads')
const turn = new Int32Array(workerData, 0, 1)
const dueMs = new Float64Array(workerData, 8, 1)
for (;;) {
  const seen = Atomics.load(turn, 0)
  if (seen < 0) break
  const waitMs = dueMs[0] - performance.timeOrigin - performance.now()
  if (waitMs > 0 && Atomics.wait(turn, 0, seen, waitMs) !== 'timed-out') continue
  parentPort.postMessage(0)
  Atomics.wait(turn, 0, seen)
}
`

/** Calls back at given moments, some 0.1 ms late where the process is idle; timers are up to 1.5 ms late. */
export class Metronome {
  readonly #shared = new SharedArrayBuffer(16)
  readonly #turn = new Int32Array(this.#shared, 0, 1)
  readonly #dueMs = new Float64Array(this.#shared, 8, 1)
  readonly #onTick: () => number
  #worker: Worker | undefined
  #nextMs = Infinity
  /** It is late with something, which comes in the next turn of the event loop. */
  #isBehind = false

  /** `onTick` does what is due and says when the next is, in Unix milliseconds by `preciseNow`; infinite for never. */
  constructor(onTick: () => number) {
    this.#onTick = onTick
  }

  /** Ticks at once. Idempotent. */
  start(): void {
    if (this.#worker !== undefined) return
    this.#worker = new Worker(thread, { eval: true, workerData: this.#shared, execArgv: [] })
    this.#worker.on('message', () => this.#tick())
  }

  /**
   * Ticks if it is due. For who has the thread in any case: a knock is heard only when what is ready in this turn of the event loop was handled,
   * which in a process of many users takes milliseconds.
   */
  catchUp(): void {
    if (preciseNow() >= this.#nextMs) this.#tick()
  }

  /** Resolves when the thread has ended, which it does by itself. Idempotent. */
  async stop(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    if (worker === undefined) return
    const ended = once(worker, 'exit')
    Atomics.store(this.#turn, 0, -1)
    Atomics.notify(this.#turn, 0)
    await ended
  }

  #tick(): void {
    if (this.#worker === undefined || this.#isBehind) return
    this.#nextMs = Infinity
    const nextMs = this.#onTick()
    if (nextMs <= preciseNow()) return this.#tickInNextTurn()
    // Without a next one the thread waits until it is stopped.
    if (nextMs === Infinity) return
    this.#nextMs = nextMs
    this.#dueMs[0] = nextMs
    Atomics.add(this.#turn, 0, 1)
    Atomics.notify(this.#turn, 0)
  }

  /** Knocks and who catches up do not count until then: sockets, timers and signals would never have a turn. */
  #tickInNextTurn(): void {
    this.#isBehind = true
    setImmediate(() => {
      this.#isBehind = false
      this.#tick()
    })
  }
}

/** Unix milliseconds with fractions, which never jump while the process runs. */
export function preciseNow(): number {
  return performance.timeOrigin + performance.now()
}
