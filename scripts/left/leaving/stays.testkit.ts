import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { it } from 'vitest'
import { runVariable } from '../left-processes.ts'

it('starts a process with a group of its own, and waits until vitest is killed', { timeout: 0 }, async () => {
  spawn('sleep', ['602'], { stdio: 'ignore', detached: true })
  process.stdout.write(`the folder is ${tmpdir()}\n`)
  process.stdout.write(`the run is ${process.env[runVariable]}\n`)
  await new Promise(() => {})
})
