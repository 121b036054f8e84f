/// <reference lib="dom" />
import type { Clock } from '../ports.ts'
import { SharedVerification } from './shared-verification.ts'
import { verificationLimits, type VerificationPool } from './verification-pool.ts'
import {
  WorkerVerification,
  type VerificationWorker,
  type VerificationWorkerEvents,
} from './worker-verification.ts'

type PoolClock = Pick<Clock, 'endOfTurn' | 'schedule' | 'monotonicMs'>

let shared: SharedVerification | undefined

/** Checks signatures in so many workers, which all of this page share that ask for as many. */
export function openPageWorkers(workers: number, clock: PoolClock): VerificationPool {
  shared ??= new SharedVerification((size) => createPool(size, clock))
  return shared.open(workers)
}

function createPool(size: number, { endOfTurn, schedule, monotonicMs }: PoolClock): VerificationPool {
  const limits = {
    ...verificationLimits,
    maxBatchesPerWorker: verificationLimits.maxBatchesPerPageWorker,
  }
  return new WorkerVerification(size, { start: startWorker, endOfTurn, schedule, monotonicMs }, limits)
}

function startWorker(events: VerificationWorkerEvents): VerificationWorker {
  // In this form bundlers find it.
  const worker = new Worker(new URL('./page-verification-worker.js', import.meta.url), {
    type: 'module',
    name: 'verification',
  })
  worker.addEventListener('message', ({ data }: MessageEvent<Uint8Array | 'ready'>) => {
    if (data === 'ready') events.onReady()
    else events.onAnswer(data)
  })
  worker.addEventListener('error', () => events.onLost())
  return {
    post: (request) => worker.postMessage(request, [request.buffer]),
    stop: () => worker.terminate(),
  }
}
