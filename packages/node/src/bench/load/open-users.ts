import { setTimeout as pause } from 'node:timers/promises'
import { untilAborted } from '@runnel/protocol'
import { nodeError } from '../../errors.ts'
import { ArrivalRing } from '../core/arrivals.ts'
import type { UserRole } from '../core/plan.ts'
import { errorText } from './measurements.ts'
import { preciseNow } from './metronome.ts'

/** Users that join at once: more would only wait for each other. */
const maxOpening = 64

/**
 * Opens users one after the other at a rate, whether or not those before have joined; `open` is told when each should have begun. Throws
 * BENCH_USERS_FAILED with the first reason, or the signal's reason.
 */
export async function openUsers(
  roles: readonly UserRole[],
  ratePerS: number,
  signal: AbortSignal,
  open: (role: UserRole, intendedMs: number) => Promise<void>,
): Promise<void> {
  const ring = new ArrivalRing({ publishers: 1, ratePerS, startMs: preciseNow(), endMs: Infinity, phase: 0 })
  const opening = new Set<Promise<void>>()
  const failures: unknown[] = []
  for (const role of roles) {
    if (failures.length > 0) break
    const waitMs = ring.nextMs - preciseNow()
    if (waitMs > 0) await pause(waitMs, undefined, { signal })
    const intendedMs = ring.take(Infinity)?.intendedMs ?? preciseNow()
    const opened = open(role, intendedMs).catch((error: unknown) => void failures.push(error))
    opening.add(opened)
    void opened.then(() => opening.delete(opened))
    if (opening.size >= maxOpening) await untilAborted(Promise.race(opening), signal)
  }
  await untilAborted(Promise.all(opening), signal)
  if (failures.length === 0) return
  const [cause] = failures
  throw nodeError('BENCH_USERS_FAILED', `${failures.length} of ${roles.length}: ${errorText(cause)}`, {
    cause,
  })
}
