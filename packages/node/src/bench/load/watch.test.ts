import { expect, it } from 'vitest'
import type { Generator, LoadSample } from './generator.ts'
import { DelayHistogram } from './histogram.ts'
import { mergeSamples } from './seconds.ts'
import { secondAfter, Watch } from './watch.ts'

it('looks at the next full second, also where timers are early or a look took long', () => {
  expect(secondAfter(1, 1_000.4)).toBe(2)
  expect(secondAfter(1, 999.8)).toBe(2)
  expect(secondAfter(1, 3_100)).toBe(4)
})

function watchOf(generator: Partial<Generator>, signal = new AbortController().signal): Watch {
  // Its first second is over.
  const nowMs = () => 1_000
  const generators = [generator as Generator]
  return new Watch({ generators, startMs: 0, nowMs, signal, onSecond: () => {} })
}

const sample = { published: 5, received: 7, delays: new DelayHistogram().encode(), cpuShare: 0.1 }

it('adds what came just after the last look to that second', async () => {
  const work = Promise.withResolvers<void>()
  const answer = () => {
    work.resolve()
    return Promise.resolve(sample)
  }
  const watch = watchOf({ sample: answer })
  await watch.during(work.promise)
  watch.end([{ ...sample, published: 0, received: 1, cpuShare: 0.9 }])
  expect(watch.seconds).toMatchObject([{ published: 5, received: 8, receivedPerS: 8, cpuShare: 0.1 }])
})

it('takes part of a second for a whole one, so that few messages in it are no high rate', () => {
  expect(mergeSamples([sample], 0.1, 0.1)).toMatchObject({ publishedPerS: 5, receivedPerS: 7 })
  expect(mergeSamples([sample, sample], 2, 2)).toMatchObject({ published: 10, publishedPerS: 5 })
})

it('ends where a generator that is looked at fails, or never answers', async () => {
  const forever = () => new Promise<never>(() => {})
  const failing = watchOf({ sample: () => Promise.reject(new Error('lost')) })
  await expect(failing.during(forever())).rejects.toThrow('lost')
  const silent = watchOf({ sample: forever }, AbortSignal.abort(new Error('called off')))
  await expect(silent.during(forever())).rejects.toThrow('called off')
})

it.each(['before', 'after'])('keeps what another said %s one failed', async (when) => {
  const lost = Promise.withResolvers<never>()
  const said = Promise.withResolvers<LoadSample>()
  const ends = [() => lost.reject(new Error('lost')), () => said.resolve(sample)]
  const look = () => {
    const [first, last] = when === 'before' ? ends.toReversed() : ends
    first?.()
    setImmediate(() => last?.())
    return said.promise
  }
  const generators = [{ sample: look }, { sample: () => lost.promise }] as unknown as Generator[]
  const { signal } = new AbortController()
  const watch = new Watch({ generators, startMs: 0, nowMs: () => 1_000, signal, onSecond: () => {} })
  await expect(watch.during(new Promise<never>(() => {}))).rejects.toThrow('lost')
  await said.promise
  watch.end([{ ...sample, published: 1, received: 0 }])
  expect(watch.seconds).toMatchObject([{ published: 6, received: 7 }])
})
