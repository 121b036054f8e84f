import { untilAborted } from '@runnel/protocol'
import { errorText } from './measurements.ts'

/** What is to be closed, and its name for people. */
export interface Closing {
  readonly name: string
  close(): Promise<void>
}

/** Closes all side by side. Returns what had not closed after so many milliseconds, which is left, or could not be, and why. Never rejects. */
export async function closeWithin(closings: readonly Closing[], limitMs: number): Promise<readonly string[]> {
  const limit = AbortSignal.timeout(limitMs)
  const words = closings.map(async ({ name, close }) => {
    try {
      await untilAborted(close(), limit)
      return []
    } catch (error) {
      return [limit.aborted ? name : `${name} (${errorText(error)})`]
    }
  })
  return (await Promise.all(words)).flat()
}
