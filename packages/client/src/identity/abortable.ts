import { clientError } from '../errors.ts'

/** What a promise gives that cannot be told to stop, or ABORTED as soon as the signal is aborted. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(clientError('ABORTED', undefined, { cause: signal.reason }))
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([promise, aborted])
  } catch (error) {
    // What is told of the signal too may end first, with an error of its own.
    if (signal.aborted) return await aborted
    throw error
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
