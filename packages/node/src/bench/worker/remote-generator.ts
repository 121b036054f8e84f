import { networkLimits } from '@runnel/network'
import { untilAborted } from '@runnel/protocol'
import { nodeError } from '../../errors.ts'
import { closeBoundMs } from '../core/budget.ts'
import { clockDistance, type ClockDistance, type ClockExchange } from '../core/clock-offset.ts'
import type { LoadPlan, Share, UserKind } from '../core/plan.ts'
import type { Generator, LoadResult, LoadSample, LoadWindow } from '../load/generator.ts'
import { preciseNow } from '../load/metronome.ts'
import { timeLimit } from '../load/time-limit.ts'
import type { UserPlace } from '../users/user.ts'
import { WorkerConnection, type WorkerCalls, type WorkerHello } from './calls.ts'
import { workerVersion } from './worker-version.ts'

/** Exchanges of times, of which the quickest counts. */
const clockExchanges = 20

/** A generator in another process, here or on another machine. */
export class RemoteGenerator implements Generator {
  readonly name: string
  readonly openFiles: number | undefined
  readonly #connection: WorkerConnection
  #clock: ClockDistance = { offsetMs: 0, errorMs: 0 }
  #stopping: Promise<readonly string[]> | undefined

  private constructor(connection: WorkerConnection, { name, openFiles }: WorkerHello) {
    this.#connection = connection
    this.name = name
    this.openFiles = openFiles
  }

  /**
   * `place` is host:port. Throws BENCH_WORKER_VERSION where the worker is of another version, BENCH_CLOCKS_APART where nodes here would not take
   * its messages, and what connecting throws.
   */
  static async connect(place: string, token: string): Promise<RemoteGenerator> {
    const connection = await WorkerConnection.open(place, token)
    try {
      const version = workerVersion()
      const hello = await connection.call('hello', { version })
      if (hello.version !== version)
        throw nodeError('BENCH_WORKER_VERSION', `${place} is ${hello.version}, this is ${version}`)
      const generator = new RemoteGenerator(connection, { ...hello, name: `${hello.name} at ${place}` })
      requireNear(place, await generator.#measureClock())
      return generator
    } catch (error) {
      connection.close()
      throw error
    }
  }

  /** Throws BENCH_WORKER_FAILED with what `requireListen` and `requireKind` throw at the worker. */
  async check(host: string, kind: UserKind): Promise<void> {
    await this.#connection.call('check', { host, kind })
  }

  open(plan: LoadPlan, place: UserPlace, share: Share, signal: AbortSignal): Promise<void> {
    return untilAborted(this.#open({ plan, place, share }), signal)
  }

  async #open(request: Parameters<WorkerCalls['open']>[0]): Promise<void> {
    this.#clock = await this.#measureClock()
    await this.#connection.call('setClock', this.#clock)
    await this.#connection.call('open', request)
  }

  async introduce(): Promise<void> {
    await this.#connection.call('introduce', {})
  }

  async missing(): Promise<readonly string[]> {
    return (await this.#connection.call('missing', {})).missing
  }

  async run(window: LoadWindow, signal: AbortSignal): Promise<void> {
    await untilAborted(this.#connection.call('run', window), signal)
  }

  sample(): Promise<LoadSample> {
    return this.#connection.call('sample', {})
  }

  /** The clock is measured again: what it moved meanwhile is not known better. */
  async result(): Promise<LoadResult> {
    const result = await this.#connection.call('result', {})
    const { offsetMs, errorMs } = await this.#measureClock()
    const movedMs = Math.max(0, Math.abs(offsetMs - this.#clock.offsetMs) - errorMs)
    return { ...result, name: this.name, clockErrorMs: this.#clock.errorMs + movedMs }
  }

  stop(): Promise<readonly string[]> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<readonly string[]> {
    const limit = timeLimit(closeBoundMs)
    // One that is gone has nothing to stop, and one that does not answer is left.
    const { unclosed } = await untilAborted(this.#connection.call('stop', {}), limit.signal).catch(() => ({
      unclosed: limit.signal.aborted ? ['its users, as far as it says'] : [],
    }))
    limit.end()
    this.#connection.close()
    return unclosed
  }

  async #measureClock(): Promise<ClockDistance> {
    const exchanges: ClockExchange[] = []
    for (let i = 0; i < clockExchanges; i++) {
      const askedMs = preciseNow()
      const { nowMs: workerMs } = await this.#connection.call('clock', {})
      exchanges.push({ askedMs, workerMs, answeredMs: preciseNow() })
    }
    return clockDistance(exchanges)
  }
}

/** Corrected or not, nodes take no messages whose time is that far from theirs. Throws BENCH_CLOCKS_APART. */
function requireNear(place: string, { offsetMs }: ClockDistance): void {
  if (Math.abs(offsetMs) <= networkLimits.clockToleranceMs) return
  const [seconds, way] = [Math.round(Math.abs(offsetMs) / 1000), offsetMs > 0 ? 'behind' : 'ahead of']
  throw nodeError('BENCH_CLOCKS_APART', `${place} is ${seconds} s ${way} this one`)
}
