import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'vitest'

it('leaves a process, which holds the standard error of the worker, and a folder', () => {
  spawn('sleep', ['601'], { stdio: ['ignore', 'ignore', 'inherit'] })
  process.stdout.write(`the folder is ${mkdtempSync(join(tmpdir(), 'left-'))}\n`)
})
