/// <reference lib="dom" />
import { systemClock } from '../system/system-clock.ts'
import { SharedVerification } from './shared-verification.ts'
import { defaultWorkers, verificationLimits, type VerificationPool } from './verification-pool.ts'
import {
  WorkerVerification,
  type VerificationWorker,
  type VerificationWorkerEvents,
} from './worker-verification.ts'

const { endOfTurn } = systemClock
const shared = new SharedVerification(
  (workers) =>
    new WorkerVerification(
      workers,
      { start: startWorker, endOfTurn },
      { ...verificationLimits, maxBatchesPerWorker: verificationLimits.maxBatchesPerPageWorker },
    ),
)

/** As in Node, in workers of the page. Where it may have none, or their file is not beside this one, all is checked on the page's thread. */
export function openVerification(
  workers = defaultWorkers(navigator.hardwareConcurrency),
): VerificationPool | undefined {
  return workers === 0 || typeof Worker !== 'function' ? undefined : shared.open(workers)
}

function startWorker(events: VerificationWorkerEvents): VerificationWorker {
  const entry = new URL('./page-verification-worker.js', import.meta.url)
  const worker = new Worker(entry, { type: 'module', name: 'verification' })
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
