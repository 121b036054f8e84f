import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { newDirectory } from '../cli.testkit.ts'
import { startChild } from './child.ts'

describe('startChild', () => {
  const logFile = join(newDirectory(), 'child.log')
  const onDeath = () => expect.unreachable('it never ran')

  it('gives up a process that does not get ready in time, after it has ended', async () => {
    // No process starts within a millisecond.
    const options = {
      name: 'tracker 1',
      args: ['tracker', '--port', '0'],
      logFile,
      readyTimeoutMs: 1,
      onDeath,
    }
    await expect(startChild(options)).rejects.toMatchObject({
      code: 'UP_START_FAILED',
      message: expect.stringContaining(`tracker 1: not ready within 1 ms; its log: ${logFile}`),
    })
  })

  it('gives up a process at once when it is told to, after it has ended', async () => {
    const stop = new AbortController()
    const args = ['tracker', '--port', '0']
    const starting = startChild({ name: 'tracker 1', args, logFile, signal: stop.signal, onDeath })
    stop.abort(new Error('called off'))
    await expect(starting).rejects.toThrow('called off')
  })

  it('says why a process ended before it was ready', async () => {
    const options = { name: 'node 1', args: ['node', '--config', 'gone.json'], logFile, onDeath }
    await expect(startChild(options)).rejects.toMatchObject({
      code: 'UP_START_FAILED',
      message: expect.stringMatching(/node 1: .*gone\.json \(CONFIG_NOT_FOUND\)/),
    })
  })
})
