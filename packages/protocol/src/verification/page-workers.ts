/// <reference lib="dom" />
import { systemClock } from '../system/system-clock.ts'
import { SharedVerification } from './shared-verification.ts'
import { verificationLimits, type VerificationPool } from './verification-pool.ts'
import {
  WorkerVerification,
  type VerificationWorker,
  type VerificationWorkerEvents,
} from './worker-verification.ts'

let shared: SharedVerification | undefined

/** Checks signatures in so many workers, which all of this page share that ask for as many. They go by the system's clock. */
export function openPageWorkers(workers: number): VerificationPool {
  shared ??= new SharedVerification(createPool)
  return shared.open(workers)
}

function createPool(size: number): VerificationPool {
  const limits = {
    ...verificationLimits,
    maxBatchesPerWorker: verificationLimits.maxBatchesPerPageWorker,
  }
  return new WorkerVerification(size, { ...systemClock, start: startWorker }, limits)
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
