import { describe, expect, it } from 'vitest'
import { oneAtATime } from './one-at-a-time.ts'

/** Work that ends when the test says so. */
function heldWork() {
  const runs: PromiseWithResolvers<void>[] = []
  const run = oneAtATime(() => {
    const held = Promise.withResolvers<void>()
    runs.push(held)
    return held.promise
  })
  return { run, runs }
}

describe('work that is done one at a time', () => {
  it('is repeated once for all who asked while it ran', async () => {
    const { run, runs } = heldWork()
    const first = run()
    const later = [run(), run(), run()]
    expect(runs).toHaveLength(1)
    runs[0]?.resolve()
    await first
    expect(runs).toHaveLength(2)
    runs[1]?.resolve()
    await Promise.all(later)
    expect(runs).toHaveLength(2)
  })

  it('that fails says so to whom it concerns, and the next is done all the same', async () => {
    const { run, runs } = heldWork()
    const first = run()
    const second = run()
    runs[0]?.reject(new Error('first'))
    await expect(first).rejects.toThrow('first')
    runs[1]?.resolve()
    await second
    const third = run()
    expect(runs).toHaveLength(3)
    runs[2]?.resolve()
    await third
  })

  it('is done again for who asks in the very turn in which it ends', async () => {
    const { run, runs } = heldWork()
    const first = run()
    runs[0]?.resolve()
    const last = run()
    await first
    runs[1]?.resolve()
    await last
    expect(runs).toHaveLength(2)
  })
})
