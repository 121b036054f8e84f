import { expect, it } from 'vitest'
import { clientError } from './errors.ts'
import { Lazy } from './lazy.ts'

const open = { requireOpen: () => {} }

it('is loaded once, when it is used', async () => {
  let loads = 0
  const lazy = new Lazy(open, async () => ++loads)
  expect([loads, lazy.now]).toEqual([0, undefined])
  expect(await Promise.all([lazy.get(), lazy.get()])).toEqual([1, 1])
  expect(lazy.now).toBe(1)
})

it('is loaded again with the next use where that failed', async () => {
  let isOnline = false
  const lazy = new Lazy(open, async () => {
    if (!isOnline) throw new Error('offline')
    return 'loaded'
  })
  await expect(lazy.get()).rejects.toThrow('offline')
  isOnline = true
  expect(await lazy.get()).toBe('loaded')
})

it('is given to nobody once the client is closed, also where it closed meanwhile', async () => {
  let isOpen = true
  const gate = {
    requireOpen: () => {
      if (!isOpen) throw clientError('CLIENT_CLOSED')
    },
  }
  const lazy = new Lazy(gate, () => Promise.resolve('loaded'))
  const using = lazy.get()
  isOpen = false
  await expect(using).rejects.toMatchObject({ code: 'CLIENT_CLOSED' })
})
