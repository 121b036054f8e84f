import { describe, expect, it } from 'vitest'
import { SingleRun } from './single-run.ts'

/** Work that ends when the test says so. */
function heldWork() {
  const runs: PromiseWithResolvers<void>[] = []
  const single = new SingleRun(() => {
    const run = Promise.withResolvers<void>()
    runs.push(run)
    return run.promise
  })
  return { single, runs }
}

describe('a single run', () => {
  it('is repeated once for all who asked while it ran', async () => {
    const { single, runs } = heldWork()
    const first = single.run()
    const later = [single.run(), single.run(), single.run()]
    expect(runs).toHaveLength(1)
    runs[0]?.resolve()
    await first
    expect(runs).toHaveLength(2)
    runs[1]?.resolve()
    await Promise.all(later)
    expect(runs).toHaveLength(2)
  })

  it('that fails says so to whom it concerns, and the next is done all the same', async () => {
    const { single, runs } = heldWork()
    const first = single.run()
    const second = single.run()
    runs[0]?.reject(new Error('first'))
    await expect(first).rejects.toThrow('first')
    runs[1]?.resolve()
    await second
    const third = single.run()
    expect(runs).toHaveLength(3)
    runs[2]?.resolve()
    await third
  })
})
