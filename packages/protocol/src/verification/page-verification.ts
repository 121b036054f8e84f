/// <reference lib="dom" />
import type { Clock } from '../ports.ts'
import { LazyVerification } from './lazy-verification.ts'
import { defaultWorkers, type VerificationPool } from './verification-pool.ts'

/** As in Node, in workers of the page. Where it may have none, or their file is not beside this one, all is checked on the page's thread. */
export function openVerification(
  workers: number | undefined,
  clock: Pick<Clock, 'endOfTurn' | 'schedule' | 'monotonicMs'>,
): VerificationPool | undefined {
  const size = workers ?? defaultWorkers(navigator.hardwareConcurrency)
  if (!(size > 0) || typeof Worker !== 'function') return undefined
  return new LazyVerification(async () => (await import('./page-workers.ts')).openPageWorkers(size, clock))
}
