import { expect, it } from 'vitest'
import { Lazy } from './lazy.ts'

it('is loaded once, when it is used', async () => {
  let loads = 0
  const lazy = new Lazy(async () => ++loads)
  expect([loads, lazy.now]).toEqual([0, undefined])
  expect(await Promise.all([lazy.get(), lazy.get()])).toEqual([1, 1])
  expect(lazy.now).toBe(1)
})

it('is loaded again with the next use where that failed', async () => {
  let isOnline = false
  const lazy = new Lazy(async () => {
    if (!isOnline) throw new Error('offline')
    return 'loaded'
  })
  await expect(lazy.get()).rejects.toThrow('offline')
  isOnline = true
  expect(await lazy.get()).toBe('loaded')
})
