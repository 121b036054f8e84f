import { once } from 'node:events'
import { expect, it } from 'vitest'
import { inParallel } from './in-parallel.ts'

const items = [0, 1, 2, 3, 4, 5]

/** Ends as soon as it is told to, with what ending it brings. */
async function untilToldTo(signal: AbortSignal): Promise<never> {
  await once(signal, 'abort')
  throw new Error('it was ended')
}

it('does so many at a time, and gives the results in the order of the items', async () => {
  let [running, most] = [0, 0]
  const results = await inParallel(2, items, async (item) => {
    most = Math.max(most, ++running)
    await new Promise((resolve) => setImmediate(resolve))
    running--
    return 10 * item
  })
  expect(results).toEqual([0, 10, 20, 30, 40, 50])
  expect(most).toBe(2)
})

it('begins nothing after a failure, ends what runs, and rejects with that failure when it has ended', async () => {
  const begun: number[] = []
  const ended: number[] = []
  const all = inParallel(3, items, async (item, signal) => {
    begun.push(item)
    try {
      if (item === 2) throw new Error('it broke')
      await untilToldTo(signal)
    } finally {
      await new Promise((resolve) => setImmediate(resolve))
      ended.push(item)
    }
  })
  await expect(all).rejects.toThrow('it broke')
  expect([begun, ended.toSorted()]).toEqual([
    [0, 1, 2],
    [0, 1, 2],
  ])
})

it('begins nothing in a worker whose item ends well after another has failed', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const begun: number[] = []
  const all = inParallel(2, items, async (item) => {
    begun.push(item)
    if (item === 0) return promise
    resolve()
    throw new Error('it broke')
  })
  await expect(all).rejects.toThrow('it broke')
  expect(begun).toEqual([0, 1])
})

it('ends when it is told to, unless all has been done', async () => {
  const stop = new AbortController()
  const begun: number[] = []
  const all = inParallel(
    2,
    items,
    (item, signal) => {
      begun.push(item)
      setImmediate(() => stop.abort(new Error('enough')))
      return untilToldTo(signal)
    },
    stop.signal,
  )
  await expect(all).rejects.toThrow('enough')
  expect(begun).toEqual([0, 1])
  await expect(inParallel(2, items, () => Promise.resolve(), stop.signal)).rejects.toThrow('enough')
  const last = new AbortController()
  const done = inParallel(1, [7], (item) => Promise.resolve(last.abort()).then(() => item), last.signal)
  expect(await done).toEqual([7])
})
