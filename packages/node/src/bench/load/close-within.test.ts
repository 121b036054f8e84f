import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, expect, it, vi } from 'vitest'
import { closeWithin } from './close-within.ts'

afterEach(() => void vi.useRealTimers())

const closing = (name: string, close: () => Promise<void>) => ({ name, close })

it('says what did not close when time is up, and what could not be closed', async () => {
  vi.useFakeTimers()
  const closings = closeWithin(
    [
      closing('user 0', () => Promise.resolve()),
      closing('user 1', () => new Promise(() => {})),
      closing('user 2', () => Promise.reject(new Error('no such page'))),
    ],
    12,
  )
  const ended = vi.fn()
  void closings.then(ended)
  await vi.advanceTimersByTimeAsync(11)
  expect(ended).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(await closings).toEqual(['user 1', 'user 2 (no such page)'])
})

it('leaves no timer when all have closed', async () => {
  vi.useFakeTimers()
  expect(await closeWithin([closing('user 0', () => Promise.resolve())], 12)).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

it('says it also where nothing else keeps the process', async () => {
  const program = `
    import { closeWithin } from ${JSON.stringify(new URL('close-within.ts', import.meta.url).href)}
    console.log(await closeWithin([{ name: 'user 0', close: () => new Promise(() => {}) }], 1))`
  const args = ['--conditions=runnel-src', '--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(stdout).toBe("[ 'user 0' ]\n")
})
