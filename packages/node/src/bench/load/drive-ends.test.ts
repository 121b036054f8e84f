import { afterEach, describe, expect, it, vi } from 'vitest'
import { untilAborted } from '@runnel/protocol'
import { lastWordMs, workBoundMs } from '../core/budget.ts'
import type { LoadPlan } from '../core/plan.ts'
import type { Target } from '../network/target.ts'
import { drive, type DriveOptions } from './drive.ts'
import type { Generator, LoadResult, LoadSample } from './generator.ts'

const plan = {
  ...{ clients: 2, connectPerS: 1_000, publishersPerPart: 1, subscribes: false, history: 0 },
  ...{ flows: [], parts: [{ streamId: '0x/s', partition: 0 }] },
} as unknown as LoadPlan

function generatorWith(over: Partial<Generator>): Generator {
  return {
    name: 'fake',
    ...{ open: () => Promise.resolve(), introduce: () => Promise.resolve(), run: () => Promise.resolve() },
    ...{ missing: () => Promise.resolve([]), stop: () => Promise.resolve([]) },
    sample: () => Promise.reject(new Error('not asked for')),
    result: () => Promise.reject(new Error('not asked for')),
    ...over,
  }
}

function optionsWith(generator: Generator, over: Partial<DriveOptions> = {}): DriveOptions {
  return {
    ...{ plan, generators: [generator], place: {} as DriveOptions['place'] },
    target: { costs: () => [], died: () => [] } as unknown as Target,
    times: { settleMs: 60_000, warmupMs: 0, durationMs: 0, drainMs: 60_000, prepareMs: 0 },
    ...{ signal: new AbortController().signal, onPhase: () => {}, onSecond: () => {} },
    onUnclosed: (texts) => expect.unreachable(texts.join()),
    ...over,
  }
}

/** Users that hang never say what they lack. */
const hanging = () => generatorWith({ missing: () => new Promise(() => {}) })

/** What waits for an answer of a generator goes on by itself. */
const onlyTimeouts: Parameters<typeof vi.useFakeTimers>[0] = { toFake: ['setTimeout', 'clearTimeout'] }

afterEach(() => void vi.useRealTimers())

describe('drive', () => {
  it('ends when it is told to, while a generator does not answer', async () => {
    const stop = new AbortController()
    const onPhase = (text: string) => {
      if (text === 'the overlays settle') setImmediate(() => stop.abort())
    }
    const run = drive(optionsWith(hanging(), { signal: stop.signal, onPhase }))
    await expect(run).rejects.toMatchObject({ code: 'INTERRUPTED' })
  })

  it('ends when its time is up, while a generator does not answer, and leaves time to close users', async () => {
    vi.useFakeTimers(onlyTimeouts)
    const options = optionsWith(hanging())
    const ended = vi.fn()
    const run = drive(options).catch(ended)
    await vi.advanceTimersByTimeAsync(workBoundMs(plan, options.times) + lastWordMs - 1)
    expect(ended).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    await run
    expect(ended.mock.lastCall?.[0]).toMatchObject({
      code: 'BENCH_TIMEOUT',
      message: expect.stringContaining('while the overlays settle'),
    })
    expect(vi.getTimerCount()).toBe(0)
  })

  it('says what of the network had died when its time was up', async () => {
    vi.useFakeTimers(onlyTimeouts)
    const missing = () => Promise.resolve(['user 3 has not joined'])
    const open = () => new Promise<never>(() => {})
    const joining = generatorWith({
      missing,
      open: (_plan, _place, _share, signal) => untilAborted(open(), signal),
    })
    const target = { costs: () => [], died: () => ['tracker: signal SIGKILL'] } as unknown as Target
    const run = drive(optionsWith(joining, { target }))
    const ended = expect(run).rejects.toMatchObject({
      code: 'BENCH_TIMEOUT',
      message: expect.stringContaining('while 2 users join; user 3 has not joined; tracker: signal SIGKILL'),
    })
    await vi.advanceTimersByTimeAsync(workBoundMs(plan, optionsWith(joining).times))
    await ended
  })

  it('says which generators no longer answered when its time was up while it sent', async () => {
    vi.useFakeTimers(onlyTimeouts)
    const result = () => Promise.resolve({ published: [5] } as unknown as LoadResult)
    const sample = () => Promise.resolve({} as LoadSample)
    const frozen = generatorWith({ name: 'frozen', result: () => new Promise(() => {}) })
    const generators = [generatorWith({ name: 'fine', result, sample }), frozen]
    const { times } = optionsWith(frozen)
    const onPhase = (text: string) => {
      if (text === 'the last messages arrive')
        setImmediate(() => void vi.advanceTimersByTimeAsync(workBoundMs(plan, times) + lastWordMs))
    }
    const { cut } = await drive(optionsWith(frozen, { generators, onPhase }))
    expect(cut).toMatchObject({
      error: {
        code: 'BENCH_TIMEOUT',
        message: expect.stringContaining('while the last messages arrive; frozen does not answer'),
      },
      silent: ['frozen'],
    })
  })

  it('tells which users did not close', async () => {
    const told: (readonly string[])[] = []
    const result = () => Promise.resolve({ published: [0], received: 0, pending: 0 } as unknown as LoadResult)
    const stop = () => Promise.resolve(['user 1', 'user 4'])
    const generators = [
      generatorWith({ name: 'fine', result }),
      generatorWith({ name: 'hung', result, stop }),
    ]
    const onUnclosed = (texts: readonly string[]) => void told.push(texts)
    await drive(optionsWith(generatorWith({}), { generators, onUnclosed }))
    expect(told).toEqual([['hung: user 1', 'hung: user 4']])
  })

  it('waits until all has been published, also where nobody reads', async () => {
    const answers = [1, 0].map(
      (pending) => ({ published: [5], received: 0, pending }) as unknown as LoadResult,
    )
    const result = () => Promise.resolve((answers.length > 1 ? answers.shift() : answers[0]) as LoadResult)
    const { results } = await drive(optionsWith(generatorWith({ result })))
    expect(results).toMatchObject([{ pending: 0 }])
  })
})
