import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { within } from './within.ts'

describe('work within a time', () => {
  const { signal } = new AbortController()
  const long = (either: AbortSignal) => delay(60_000, 'done', { signal: either })

  it('gives what it gives', async () => {
    expect(await within(60_000, signal, () => Promise.resolve(1))).toBe(1)
    await expect(within(60_000, signal, () => Promise.reject(new Error('why')))).rejects.toThrow('why')
  })

  it('is ended by it, and by whoever interrupts', async () => {
    await expect(within(1, signal, long)).rejects.toMatchObject({ code: 'TOO_SLOW' })
    const stop = new AbortController()
    const working = within(60_000, stop.signal, long)
    stop.abort(new Error('interrupted'))
    await expect(working).rejects.toThrow('interrupted')
  })
})
