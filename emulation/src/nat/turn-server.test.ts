import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startTurnServer } from './turn-server.ts'

it('says in its own words that coturn did not start, and what it said', { timeout: 30_000 }, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'runnel-turn-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  // As `nsenter` does where the program is not there; who waits for an answer gets none.
  const words = { turnserver: "echo 'nsenter: failed to execute turnserver' >&2; exit 127" }
  const place = {
    ...{ address: '127.0.0.1', directory },
    spawn: (command: string) => {
      const child = spawn('sh', ['-c', words[command as keyof typeof words] ?? 'exec cat'], { stdio: 'pipe' })
      onTestFinished(() => void child.kill('SIGKILL'))
      return child
    },
  }
  await expect(startTurnServer(place, AbortSignal.timeout(20_000))).rejects.toMatchObject({
    code: 'PROCESS_FAILED',
    message: expect.stringContaining('failed to execute turnserver') as string,
  })
})
