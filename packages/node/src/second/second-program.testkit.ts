import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import { ensurePython } from '../../../protocol/src/second/python.testkit.ts'

const folder = join(import.meta.dirname, '../../../protocol/second')

/** The second implementation as a process: takes lines and says lines, of JSON. */
export interface SecondProgram {
  tell(line: object): void
  /** The next that it says. Throws with what it says on stderr when it ended instead. */
  said(): Promise<unknown>
  /** Ends it, and throws unless it ended well. */
  end(): Promise<void>
}

export function startSecond(args: readonly string[]): SecondProgram {
  const child = spawn(ensurePython(), ['-B', '-m', 'runnel_second', ...args], { cwd: folder })
  const ended = once(child, 'close')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let errors = ''
  child.stderr.on('data', (data) => (errors += String(data)))
  return {
    tell: (line) => void child.stdin.write(`${JSON.stringify(line)}\n`),
    said: async () => {
      const { done, value } = await lines.next()
      if (done === true) throw new Error(`the second implementation ended: ${errors}`)
      return JSON.parse(value) as unknown
    },
    end: async () => {
      child.stdin.end()
      const [code] = (await ended) as [number | null]
      if (code !== 0) throw new Error(errors)
    },
  }
}
