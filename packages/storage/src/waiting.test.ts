import { describe, expect, it } from 'vitest'
import { storageLimits } from './storage-limits.ts'
import { TestClock, turns } from './storage.testkit.ts'
import { delay, every, untilDone } from './waiting.ts'

const clock = new TestClock()

describe('untilDone', () => {
  const limits = storageLimits

  it('tries with growing pauses until it is done', async () => {
    const failures: unknown[] = []
    const onFailure = (error: unknown) => failures.push(error)
    let left = 2
    const work = () => (left-- > 0 ? Promise.reject(new Error('not yet')) : Promise.resolve())
    const signal = new AbortController().signal
    let isDone = false
    const done = untilDone(work, { clock, limits, signal, onFailure }).then(() => (isDone = true))
    await turns()
    clock.pass(limits.minStoreBackoffMs)
    await turns()
    clock.pass(2 * limits.minStoreBackoffMs - 1)
    await turns()
    expect([failures.length, isDone]).toEqual([2, false])
    clock.pass(1)
    await done
  })

  it('gives up when told to', async () => {
    const stopping = new AbortController()
    const work = () => Promise.reject(new Error('never'))
    const done = untilDone(work, { clock, limits, signal: stopping.signal, onFailure: () => {} })
    await turns()
    stopping.abort(new Error('stop'))
    await expect(done).rejects.toThrow('stop')
  })
})

describe('waiting', () => {
  it('ends with the time or the signal', async () => {
    const ending = new AbortController()
    const [waited, aborted] = [delay(clock, 10, ending.signal), delay(clock, 20, ending.signal)]
    clock.pass(10)
    await waited
    ending.abort(new Error('stop'))
    await expect(aborted).rejects.toThrow('stop')
    await expect(delay(clock, 10, ending.signal)).rejects.toThrow('stop')
  })

  it('repeats work after it has ended, until it is called off', async () => {
    let runs = 0
    const stop = every(clock, 10, async () => void runs++)
    for (let i = 0; i < 3; i++) {
      clock.pass(10)
      await turns()
    }
    stop()
    clock.pass(100)
    expect(runs).toBe(3)
  })
})
