import { describe, expect, it } from 'vitest'
import type { MessageBatch } from '../messages/stream-message.ts'
import { systemClock } from '../system/system-clock.ts'
import {
  crypto,
  forgedBatch,
  itIsAVerificationPool,
  publisher,
  signedBatch,
  verdictOf,
} from './conformance.testkit.ts'
import { inlineVerification } from './inline-verification.ts'
import { LazyVerification } from './lazy-verification.ts'
import { openVerification } from './node-verification.ts'
import { defaultWorkers, verificationLimits, type VerificationPool } from './verification-pool.ts'
import { answerVerificationRequest } from './verification-request.ts'
import {
  WorkerVerification,
  type VerificationWorkerEvents,
  type WorkerVerificationLimits,
} from './worker-verification.ts'

const opened = (workers: number): VerificationPool => {
  const pool = openVerification(workers, systemClock)
  if (pool === undefined) throw new Error('no pool')
  return pool
}

describe('verification on this thread', () => itIsAVerificationPool(() => inlineVerification(crypto)))
describe('verification by one thread', () => itIsAVerificationPool(() => opened(1)))
describe('verification by three threads', () => itIsAVerificationPool(() => opened(3)))

describe('verification that is loaded when it is used', () =>
  itIsAVerificationPool(() => new LazyVerification(() => Promise.resolve(opened(1)))))

/** Workers that answer when they are told to, on this thread. */
function scripted(size: number, limits: WorkerVerificationLimits = verificationLimits) {
  const workers: { requests: Uint8Array[]; events: VerificationWorkerEvents; isStopped: boolean }[] = []
  const turns: (() => void)[] = []
  const timers = new Set<() => void>()
  let nowMs = 0
  const pool = new WorkerVerification(
    size,
    {
      start(events) {
        const worker = { requests: [] as Uint8Array[], events, isStopped: false }
        workers.push(worker)
        return { post: (request) => worker.requests.push(request), stop: () => (worker.isStopped = true) }
      },
      endOfTurn: (fn) => turns.push(fn),
      schedule(_, fn) {
        timers.add(fn)
        return () => timers.delete(fn)
      },
      monotonicMs: () => nowMs,
    },
    limits,
  )
  const verdicts: (boolean | undefined)[] = []
  const verify = (batch: MessageBatch = signedBatch(1)) =>
    pool.verify(batch, publisher.nodeId, (it) => verdicts.push(it))
  const answer = (worker: number) => {
    const request = workers[worker]?.requests.shift() ?? new Uint8Array()
    workers[worker]?.events.onAnswer(answerVerificationRequest(request, crypto))
  }
  const endTurn = () => turns.splice(0).forEach((fn) => fn())
  /** All timers that are set now go off. */
  const timeOut = () => {
    for (const fire of [...timers]) {
      timers.delete(fire)
      fire()
    }
  }
  const passMs = (ms: number) => (nowMs += ms)
  return { pool, workers, verdicts, verify, answer, endTurn, timeOut, timers, passMs }
}

describe('workers', () => {
  it('are started with the first batch, and take some when they are ready', () => {
    const { workers, verify } = scripted(2)
    expect(workers).toHaveLength(0)
    expect(verify()).toBe(false)
    expect(workers).toHaveLength(2)
    workers[1]?.events.onReady()
    expect(verify()).toBe(true)
  })

  it('get what came in one turn in one message, and more of it at once where it is much', () => {
    const { workers, verdicts, verify, answer, endTurn } = scripted(2)
    verify()
    for (const { events } of workers) events.onReady()
    for (let i = 0; i < verificationLimits.maxBatchesPerRequest + 3; i++) verify()
    expect(workers.map(({ requests }) => requests.length)).toEqual([1, 0])
    endTurn()
    expect(workers.map(({ requests }) => requests.length)).toEqual([1, 1])
    answer(1)
    expect(verdicts).toEqual([true, true, true])
    answer(0)
    expect(verdicts).toHaveLength(verificationLimits.maxBatchesPerRequest + 3)
  })

  it.each([
    { ...verificationLimits, maxBatchesPerWorker: 2 },
    { ...verificationLimits, maxBytesPerWorker: 2 * signedBatch(1).bytes.length },
  ])('hold no more than their limits', (limits) => {
    const { workers, verify, answer, endTurn } = scripted(1, limits)
    verify()
    workers[0]?.events.onReady()
    expect([verify(), verify(), verify()]).toEqual([true, true, false])
    endTurn()
    expect(verify()).toBe(false)
    answer(0)
    expect(verify()).toBe(true)
  })

  it('that end leave what they had to the caller at once, and the others go on', () => {
    const { pool, workers, verdicts, verify, answer, endTurn } = scripted(2)
    verify()
    for (const { events } of workers) events.onReady()
    verify()
    endTurn()
    verify(forgedBatch())
    endTurn()
    workers[0]?.events.onLost()
    expect(verdicts).toEqual([undefined])
    answer(1)
    expect(verdicts).toEqual([undefined, false])
    expect(verify()).toBe(true)
    workers[1]?.events.onLost()
    endTurn()
    expect(verdicts).toEqual([undefined, false, undefined])
    expect(verify()).toBe(false)
    expect(workers.every(({ isStopped }) => isStopped)).toBe(true)
    expect(pool.workersLost).toBe(2)
  })

  it('that end are replaced by the first batch after a pause', () => {
    const { pool, workers, verdicts, verify, answer, endTurn, passMs } = scripted(1)
    verify()
    workers[0]?.events.onReady()
    workers[0]?.events.onLost()
    passMs(verificationLimits.minRestartMs - 1)
    expect([verify(), workers.length]).toEqual([false, 1])
    passMs(1)
    expect([verify(), workers.length]).toEqual([false, 2])
    workers[1]?.events.onReady()
    expect(verify()).toBe(true)
    endTurn()
    // What the first one still says is of no account.
    workers[0]?.events.onReady()
    workers[0]?.events.onAnswer(Uint8Array.of(0))
    workers[0]?.events.onLost()
    answer(1)
    expect([verdicts, pool.workersLost]).toEqual([[true], 1])
  })

  it('that end again and again are replaced ever later, up to a limit, until one has run for that long', () => {
    const { minRestartMs, maxRestartMs } = verificationLimits
    const { workers, verify, passMs } = scripted(1)
    /** The pause until the newest is replaced, in steps of the shortest one. */
    const pauseMs = (): number => {
      workers.at(-1)?.events.onLost()
      const { length } = workers
      let waitedMs = 0
      for (; workers.length === length; waitedMs += minRestartMs) {
        passMs(minRestartMs)
        verify()
      }
      return waitedMs
    }
    verify()
    expect([pauseMs(), pauseMs(), pauseMs()]).toEqual([minRestartMs, 2 * minRestartMs, 4 * minRestartMs])
    for (let i = 0; i < 6; i++) pauseMs()
    expect(pauseMs()).toBe(maxRestartMs)
    expect(pauseMs()).toBe(maxRestartMs)
    passMs(maxRestartMs + 1)
    expect(pauseMs()).toBe(minRestartMs)
  })

  it('are not replaced once the pool is stopped', () => {
    const { pool, workers, verify, passMs } = scripted(1)
    verify()
    pool.stop()
    workers[0]?.events.onLost()
    passMs(verificationLimits.maxRestartMs)
    expect([verify(), workers.length, pool.workersLost]).toEqual([false, 1, 0])
  })

  it('that do not answer leave what they had to the caller, and get more once they have', () => {
    const { workers, verdicts, verify, answer, endTurn, timeOut, timers } = scripted(1)
    verify()
    workers[0]?.events.onReady()
    for (let i = 0; i < 2; i++) {
      verify()
      endTurn()
    }
    answer(0)
    timeOut()
    endTurn()
    expect(verdicts).toEqual([true])
    verify()
    timeOut()
    endTurn()
    expect(verdicts).toEqual([true, undefined, undefined])
    expect(verify()).toBe(false)
    while ((workers[0]?.requests.length ?? 0) > 0) answer(0)
    expect(verdicts).toHaveLength(3)
    expect(verify()).toBe(true)
    endTurn()
    answer(0)
    timeOut()
    endTurn()
    expect([verdicts, timers.size]).toEqual([[true, undefined, undefined, true], 0])
  })

  it('that have answered before the thread gets to it are not taken for late', () => {
    const { workers, verdicts, verify, answer, endTurn, timeOut } = scripted(1)
    verify()
    workers[0]?.events.onReady()
    verify()
    endTurn()
    timeOut()
    answer(0)
    endTurn()
    expect(verdicts).toEqual([true])
    expect(verify()).toBe(true)
  })

  it('are none where they cannot be started', () => {
    const start = (): never => {
      throw new Error('not here')
    }
    const clock = { endOfTurn: () => {}, schedule: () => () => {}, monotonicMs: () => 0 }
    const pool = new WorkerVerification(1, { start, ...clock })
    expect(pool.verify(signedBatch(1), publisher.nodeId, () => expect.unreachable())).toBe(false)
  })
})

describe('verification that is loaded when it is used', () => {
  it('is none where it cannot be loaded', async () => {
    const loading = Promise.reject<VerificationPool>(new Error('no such file'))
    const pool = new LazyVerification(() => loading)
    const ask = () => pool.verify(signedBatch(1), publisher.nodeId, () => expect.unreachable())
    expect(ask()).toBe(false)
    await loading.catch(() => undefined)
    expect(ask()).toBe(false)
  })
})

describe('openVerification', () => {
  it('has no pool for no workers', () => {
    expect(openVerification(0, systemClock)).toBeUndefined()
  })

  it('leaves a core to the caller', () => {
    expect([1, 2, 4, 64].map(defaultWorkers)).toEqual([0, 1, 3, 4])
  })

  it('gives back what a thread has that crashes, and replaces it', async () => {
    const pool = opened(1)
    await verdictOf(pool, signedBatch(1))
    // No decoder makes such a batch; a thread that reads it throws.
    const unreadable = { ...signedBatch(1), messageOffsets: [] }
    const [crash, behind] = [verdictOf(pool, unreadable), verdictOf(pool, signedBatch(1))]
    expect(await Promise.all([crash, behind])).toEqual([undefined, undefined])
    expect(pool.workersLost).toBe(1)
    expect(await verdictOf(pool, signedBatch(1))).toBe(true)
    pool.stop()
  })

  it('shares threads, until all have stopped', async () => {
    const [first, second] = [opened(2), opened(2)]
    await verdictOf(first, signedBatch(1))
    first.stop()
    expect(await verdictOf(second, forgedBatch())).toBe(false)
    second.stop()
  })
})
