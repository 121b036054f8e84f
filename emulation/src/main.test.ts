import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'

const main = fileURLToPath(new URL('main.ts', import.meta.url))

/** What it said, and how it ended; it gets the signal when it has said that line. */
async function run(command: string, signal?: NodeJS.Signals, at?: string) {
  const args = ['--conditions=runnel-src', main, ...command.split(' ')]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'close')
  let said = ''
  for await (const line of createInterface({ input: child.stderr })) {
    said += `${line}\n`
    if (line === at) child.kill(signal)
  }
  return { said, ended: (await ended) as unknown[] }
}

describe('the command line', { timeout: 120_000 }, () => {
  it('refuses hosts without their file, though it only checks', async () => {
    const { said, ended } = await run('propagation --place hosts --check')
    expect(said).toMatch(/^INVALID_ARGUMENT: .*--hosts FILE/)
    expect(ended).toEqual([64, null])
    const file = '/nonexistent/hosts.json'
    expect(await run(`propagation --place hosts --hosts ${file} --check`)).toEqual({
      said: '',
      ended: [0, null],
    })
  })

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('ends what it started on %s', async (signal) => {
    const line = 'propagation: run 1 of 1: the overlay forms'
    const { said, ended } = await run('propagation --place loopback --nodes 5', signal, line)
    expect(said).toContain('INTERRUPTED: ')
    expect(said).toContain(signal)
    expect(ended).toEqual([1, null])
  })
})
