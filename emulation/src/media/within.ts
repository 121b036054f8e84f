import { emulationError } from '../errors.ts'

/** Does something that ends when the signal aborts; after so long it is ended, with TOO_SLOW. */
export async function within<Result>(
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(emulationError('TOO_SLOW', `${Math.round(ms / 1_000)} s`)), ms)
  const either = AbortSignal.any([signal, late.signal])
  try {
    return await work(either)
  } catch (error) {
    // A timer that is called off says only that.
    either.throwIfAborted()
    throw error
  } finally {
    clearTimeout(timer)
  }
}
