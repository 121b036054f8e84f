import type { Clock } from '@runnel/protocol'
import { clientError } from './errors.ts'

/** A signal that is aborted after a while, or when one of the others is. `end` stops the clock. */
export function deadline(
  clock: Clock,
  delayMs: number,
  ...others: readonly (AbortSignal | undefined)[]
): { readonly signal: AbortSignal; readonly end: () => void } {
  const controller = new AbortController()
  const end = clock.schedule(delayMs, () => controller.abort())
  const given = others.filter((signal) => signal !== undefined)
  return { signal: AbortSignal.any([controller.signal, ...given]), end }
}

/** Throws ABORTED. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw clientError('ABORTED', undefined, { cause: signal.reason })
}
