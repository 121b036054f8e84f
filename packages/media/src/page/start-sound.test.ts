import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { startSound } from './start-sound.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('sound that a browser starts is waited for', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const started = startSound({ resume: () => promise })
  resolve()
  await started
  expect(vi.getTimerCount()).toBe(0)
})

it('sound that a browser does not start is given up, with a sentence for people', async () => {
  const started = startSound({ resume: () => new Promise(() => {}) })
  const told = expect(started).rejects.toMatchObject({ code: 'SOUND_BLOCKED' })
  await vi.advanceTimersByTimeAsync(5_000)
  await told
})
