import { untilAborted } from '@runnel/protocol'
import { errorText } from './measurements.ts'
import { timeLimit } from './time-limit.ts'

/** What is to be closed, and its name for people. */
export interface Closing {
  readonly name: string
  close(): Promise<void>
}

/**
 * Closes all side by side. Returns what had not closed after so many milliseconds, which is left, or could not be, and why. Never rejects. The process does not end
 * meanwhile, even if nothing that is closed keeps it.
 */
export async function closeWithin(closings: readonly Closing[], limitMs: number): Promise<readonly string[]> {
  const limit = timeLimit(limitMs)
  const words = closings.map(async ({ name, close }) => {
    try {
      await untilAborted(close(), limit.signal)
      return []
    } catch (error) {
      return [limit.signal.aborted ? name : `${name} (${errorText(error)})`]
    }
  })
  const unclosed = (await Promise.all(words)).flat()
  limit.end()
  return unclosed
}
