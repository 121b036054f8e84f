import { spawn } from 'node:child_process'
import { it } from 'vitest'

it('leaves a process, which holds the standard error of the worker', () => {
  spawn('sleep', ['601'], { stdio: ['ignore', 'ignore', 'inherit'] })
})
