import { expect, it } from 'vitest'
import { whileBusy } from './busy-button.ts'

it('does one thing at a time, says so, and works again, also after an error', async () => {
  const button = { ariaBusy: null, ariaDisabled: null }
  const { promise, reject } = Promise.withResolvers<void>()
  let begun = 0
  const work = () => {
    begun++
    return promise
  }
  const first = whileBusy(button, work)
  await whileBusy(button, work)
  expect(begun).toBe(1)
  expect(button).toEqual({ ariaBusy: 'true', ariaDisabled: 'true' })
  reject(new Error('refused'))
  await expect(first).rejects.toThrow('refused')
  expect(button).toEqual({ ariaBusy: 'false', ariaDisabled: 'false' })
  await whileBusy(button, () => Promise.resolve(void begun++))
  expect(begun).toBe(2)
})
