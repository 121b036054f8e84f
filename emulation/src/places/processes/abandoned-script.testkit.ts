import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'

/** Runs a module's text as a process until it says a line, and kills it. Gives the line. */
export async function killedAfterItsLine(script: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const args = ['--conditions=runnel-src', '--input-type=module', '--eval', script]
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })
  const [line] = (await Promise.race([once(lines, 'line'), once(lines, 'close')])) as [string?]
  if (line === undefined) throw new Error('it ended without a line')
  child.kill('SIGKILL')
  await once(child, 'exit')
  return line
}
