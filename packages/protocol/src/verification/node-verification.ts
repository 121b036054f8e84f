import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Clock } from '../ports.ts'
import { SharedVerification } from './shared-verification.ts'
import { defaultWorkers, type VerificationPool } from './verification-pool.ts'
import {
  WorkerVerification,
  type VerificationWorker,
  type VerificationWorkerEvents,
} from './worker-verification.ts'

/** Runs from the sources as from the build. */
const isSource = import.meta.url.endsWith('.ts')
const entry = new URL(
  isSource ? './node-verification-worker.ts' : './node-verification-worker.js',
  import.meta.url,
)

let shared: SharedVerification | undefined

/**
 * Checks signatures in so many threads, which all of this process share that ask for as many; by default one less than there are cores, at
 * most four. Undefined for none. No thread is started before it is needed.
 */
export function openVerification(
  workers: number | undefined,
  { endOfTurn, schedule, monotonicMs }: Pick<Clock, 'endOfTurn' | 'schedule' | 'monotonicMs'>,
): VerificationPool | undefined {
  const size = workers ?? defaultWorkers(availableParallelism())
  if (size === 0) return undefined
  shared ??= new SharedVerification(
    (threads) => new WorkerVerification(threads, { start: startWorker, endOfTurn, schedule, monotonicMs }),
  )
  return shared.open(size)
}

function startWorker(events: VerificationWorkerEvents): VerificationWorker {
  const worker = new Worker(entry, {
    name: 'verification',
    ...(isSource ? { execArgv: ['--conditions=runnel-src'] } : {}),
  })
  worker.on('message', (message: Uint8Array | 'ready') => {
    if (message === 'ready') events.onReady()
    else events.onAnswer(message)
  })
  // An error ends it.
  worker.on('error', () => {})
  worker.on('exit', () => events.onLost())
  // It is no reason for the process to go on.
  worker.unref()
  return {
    post: (request) => worker.postMessage(request, [request.buffer]),
    stop() {
      // Not terminated: an add-on in the middle of a call, or of being loaded, would abort the process. It ends by itself, for which the
      // process waits.
      worker.ref()
      worker.postMessage('stop')
    },
  }
}
