import { afterEach, expect, it, vi } from 'vitest'
import { closeWithin } from './close-within.ts'

afterEach(() => vi.restoreAllMocks())

const closing = (name: string, close: () => Promise<void>) => ({ name, close })

it('says what did not close when time is up, and what could not be closed', async () => {
  const limit = new AbortController()
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(limit.signal)
  setImmediate(() => limit.abort())
  const unclosed = await closeWithin(
    [
      closing('user 0', () => Promise.resolve()),
      closing('user 1', () => new Promise(() => {})),
      closing('user 2', () => Promise.reject(new Error('no such page'))),
    ],
    12,
  )
  expect(unclosed).toEqual(['user 1', 'user 2 (no such page)'])
  expect(timeout).toHaveBeenCalledWith(12)
})
