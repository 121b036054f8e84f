import { untilAborted } from '@runnel/protocol'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { nodeError } from '../../errors.ts'
import { lastWordMs } from '../core/budget.ts'
import type { LoadPlan } from '../core/plan.ts'
import { sumOf } from '../core/sum-of.ts'
import type { Target } from '../network/target.ts'
import type { Generator, LoadResult } from './generator.ts'
import { DelayHistogram } from './histogram.ts'
import { measure, type MeasureOptions } from './measure.ts'

const plan = { subscribes: false, history: 0 } as LoadPlan
const times = { settleMs: 0, warmupMs: 0, durationMs: 1, drainMs: 60_000, prepareMs: 0 }

/** Sends five messages, and has another at each look, until it has ten. */
function fake(name: string, over: Partial<Generator> = {}): Generator {
  let [published, sampled] = [0, 0]
  const run = () => Promise.resolve(void (published = 5))
  const result = () => {
    published = Math.min(10, published + 1)
    return Promise.resolve({ name, published: [published], received: 0, pending: 10 - published })
  }
  const sample = () => {
    const since = published - sampled
    sampled = published
    return Promise.resolve({ published: since, received: 0, delays: new DelayHistogram().encode() })
  }
  return { name, run, result, sample, ...over } as unknown as Generator
}

function optionsWith(
  generators: readonly Generator[],
  signal = new AbortController().signal,
): MeasureOptions {
  const target = { costs: () => [] } as unknown as Target
  return { ...{ generators, plan, target, times, signal }, onSecond: () => {} }
}

const publishedIn = (results: readonly LoadResult[]) => sumOf(results.flatMap((one) => one.published))

afterEach(() => void vi.useRealTimers())

describe('measure', () => {
  it('looks until the last message: the seconds add up to the results', async () => {
    const { results, seconds, cut } = await measure(optionsWith([fake('a'), fake('b')]), () => {})
    expect(publishedIn(results)).toBe(20)
    expect(sumOf(seconds.map(({ published }) => published))).toBe(20)
    expect(cut).toBeUndefined()
  })

  it('has the figures of those that are left where one is lost', async () => {
    const lost = () => Promise.reject(nodeError('BENCH_WORKER_LOST', 'there:1'))
    const generators = [fake('a'), fake('b', { run: lost, sample: lost, result: lost })]
    const { results, seconds, cut } = await measure(optionsWith(generators), () => {})
    expect(cut).toMatchObject({ error: { code: 'BENCH_WORKER_LOST' }, silent: ['b'] })
    expect(results.map(({ name }) => name)).toEqual(['a'])
    expect(seconds).toHaveLength(1)
  })

  it('has what was measured until it was told to end, of generators that answer in time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const stop = new AbortController()
    const frozen = () => new Promise<never>(() => {})
    const running = (_: object, signal: AbortSignal) => untilAborted(frozen(), signal)
    const result = () => {
      setImmediate(() => vi.advanceTimersByTime(lastWordMs))
      return fake('a').result()
    }
    const answering = fake('a', { run: running, result })
    const generators = [answering, fake('b', { run: running, result: frozen })]
    setImmediate(() => stop.abort(new Error('told to')))
    const { results, cut } = await measure(optionsWith(generators, stop.signal), () => {})
    expect(results.map(({ name }) => name)).toEqual(['a'])
    expect(cut).toMatchObject({ error: { message: 'told to' }, silent: ['b'] })
  })

  it('fails where no generator has figures', async () => {
    const lost = () => Promise.reject(new Error('lost'))
    await expect(measure(optionsWith([fake('a', { run: lost, result: lost })]), () => {})).rejects.toThrow(
      'lost',
    )
  })
})
