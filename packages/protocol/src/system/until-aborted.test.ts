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

it('leaves nothing unhandled when the work fails after the signal', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  try {
    const work = Promise.withResolvers<never>()
    await expect(untilAborted(work.promise, AbortSignal.abort())).rejects.toThrow()
    work.reject(new Error('too late'))
    // Node tells of it when the microtasks are done.
    await new Promise<void>((resolve) => setImmediate(resolve))
    expect(unhandled).toEqual([])
  } finally {
    process.off('unhandledRejection', note)
  }
})
