import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, expect, it, vi } from 'vitest'
import { timeLimit } from './time-limit.ts'

afterEach(() => void vi.useRealTimers())

it('aborts when time is up, unless the work is done', () => {
  vi.useFakeTimers()
  const [late, done] = [timeLimit(12), timeLimit(12)]
  vi.advanceTimersByTime(11)
  expect(late.signal.aborted).toBe(false)
  done.end()
  vi.advanceTimersByTime(1)
  expect([late.signal.aborted, done.signal.aborted]).toEqual([true, false])
  expect(vi.getTimerCount()).toBe(0)
})

it('has who waits for it say so where nothing else keeps the process', async () => {
  const program = `
    import { timeLimit } from ${JSON.stringify(new URL('time-limit.ts', import.meta.url).href)}
    const { signal } = timeLimit(1)
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    console.log('time is up')`
  const args = ['--conditions=runnel-src', '--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(stdout).toBe('time is up\n')
})
