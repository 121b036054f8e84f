import { untilAborted, type Clock } from '@runnel/protocol'
import { clientError } from './errors.ts'

/** A signal that aborts as soon as one of these does. */
export function anyOf(...signals: readonly (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal !== undefined))
}

/** A signal that is aborted after a while, or when one of the others is. `end` stops the clock. */
export function deadline(
  clock: Clock,
  delayMs: number,
  ...others: readonly (AbortSignal | undefined)[]
): { readonly signal: AbortSignal; readonly end: () => void } {
  const controller = new AbortController()
  const end = clock.schedule(delayMs, () => controller.abort())
  return { signal: anyOf(controller.signal, ...others), end }
}

/** Resolves after a while, or when the signal is aborted. */
export async function pause(clock: Pick<Clock, 'schedule'>, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const done = () => resolve()
  const cancel = clock.schedule(ms, done)
  const forget = onAbort(signal, done)
  await promise
  cancel()
  forget()
}

/** A signal that aborts when the client closes, or the caller's does. Throws CLIENT_CLOSED and ABORTED. */
export function whileOpen(closing: AbortSignal, signal: AbortSignal | undefined): AbortSignal {
  if (closing.aborted) throw clientError('CLIENT_CLOSED')
  throwIfAborted(signal)
  return anyOf(signal, closing)
}

/** Calls a listener once the signal aborts, until the returned function is called; never where it has aborted before. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  signal?.addEventListener('abort', listener, { once: true })
  return () => signal?.removeEventListener('abort', listener)
}

/** Throws ABORTED. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw clientError('ABORTED', undefined, { cause: signal.reason })
}

/** What the work gives. Throws ABORTED as soon as this caller's signal aborts; the work goes on. */
export async function waited<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await untilAborted(work, signal)
  } catch (error) {
    throwIfAborted(signal)
    throw error
  }
}
