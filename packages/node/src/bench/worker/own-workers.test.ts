import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { startOwnWorkers, stopProcess } from './own-workers.ts'

it('kills a worker that does not end when it is told to', async () => {
  const deaf = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('up')`
  const child = spawn(process.execPath, ['-e', deaf], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  await stopProcess(child, 1)
  expect(child.signalCode).toBe('SIGKILL')
  await stopProcess(child, 1)
}, 60_000)

it('ends workers that are no longer waited for', async () => {
  const signal = AbortSignal.abort(new Error('told to'))
  await expect(startOwnWorkers(1, signal)).rejects.toThrow('told to')
}, 60_000)
