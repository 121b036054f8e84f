import { expect, it } from 'vitest'
import { untilAborted } from './until-aborted.ts'

const never = new Promise<never>(() => {})

it('gives what the promise gives, or rejects with', async () => {
  const { signal } = new AbortController()
  expect(await untilAborted(Promise.resolve(1), signal)).toBe(1)
  await expect(untilAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no')
})

it('rejects with the reason of the signal, whenever it aborts', async () => {
  const controller = new AbortController()
  const waiting = untilAborted(never, controller.signal)
  const reason = new Error('enough')
  controller.abort(reason)
  await expect(waiting).rejects.toBe(reason)
  await expect(untilAborted(never, controller.signal)).rejects.toBe(reason)
})
