import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

it('keeps no process alive after stop, and writes nothing', async () => {
  const program = fileURLToPath(new URL('process-end.testkit.ts', import.meta.url))
  const run = promisify(execFile)(process.execPath, ['--conditions=runnel-src', '--no-warnings', program], {
    timeout: 50_000,
  })
  expect(await run).toEqual({ stdout: 'nothing left to do\n', stderr: '' })
})
