import { expect, it } from 'vitest'
import { withinMinutes } from './minutes.ts'

const { signal } = new AbortController()

it('does the work, which hears of the end of its time and of an interruption', async () => {
  expect(await withinMinutes(1, signal, () => Promise.resolve(7))).toBe(7)
  const stop = new AbortController()
  const work = withinMinutes(1, stop.signal, async (either) => {
    stop.abort(new Error('interrupted'))
    either.throwIfAborted()
  })
  await expect(work).rejects.toThrow('interrupted')
})

it.each([0, 0.5, Number.NaN, 10_081])('refuses --minutes %d, and begins nothing', async (minutes) => {
  let begun = false
  const work = withinMinutes(minutes, signal, () => Promise.resolve((begun = true)))
  await expect(work).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  expect(begun).toBe(false)
})
