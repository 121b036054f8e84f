import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

/** What `pick` takes of the lines of JSON in the log of a process, the first that is not undefined. */
export async function firstInLog<Value>(
  logFile: string,
  pick: (line: Readonly<Record<string, unknown>>) => Value | undefined,
): Promise<Value | undefined> {
  const lines = createInterface({ input: createReadStream(logFile) })
  try {
    for await (const line of lines) {
      const value = line.startsWith('{') ? pick(JSON.parse(line) as Record<string, unknown>) : undefined
      if (value !== undefined) return value
    }
    return undefined
  } finally {
    lines.close()
  }
}
