import { beforeEach, expect, it, vi } from 'vitest'
import { closeUsersMs } from '../core/budget.ts'
import type { LoadPlan } from '../core/plan.ts'
import type { UserPlace } from '../users/user.ts'
import { LocalGenerator } from './local-generator.ts'
import { preciseNow } from './metronome.ts'

let usedUs = 0
let closeUser = () => Promise.resolve()
/** What opening a user waits for. */
let opening = () => Promise.resolve()
/** What opening what they share waits for, and what was closed. */
let openingShared = () => Promise.resolve()
let closed: string[] = []
beforeEach(() => {
  closed = []
  closeUser = opening = openingShared = () => Promise.resolve()
})
vi.spyOn(process, 'cpuUsage').mockImplementation((since = { user: 0, system: 0 }) => ({
  user: usedUs - since.user,
  system: 0,
}))
vi.mock('../users/open-factory.ts', () => ({
  openFactory: async () => {
    await openingShared()
    return {
      leavesOut: '',
      open: async () => {
        usedUs += 1_000_000
        await opening()
        return { dropped: () => undefined, stop: () => closeUser().then(() => void closed.push('user')) }
      },
      stop: () => Promise.resolve(void closed.push('shared')),
    }
  },
}))

const plan = {
  ...{ runId: 1, clients: 2, connectPerS: 1_000, publishersPerPart: 0, subscribes: true, flows: [] },
  parts: [{ streamId: '0x/s', partition: 0 }],
} as unknown as LoadPlan

it('tells what opening its users took of a core apart from what sending takes', async () => {
  const generator = new LocalGenerator('here')
  const { signal } = new AbortController()
  await generator.open(plan, {} as UserPlace, { index: 0, of: 1 }, signal)
  expect((await generator.result()).cpuShare).toBeGreaterThan(0)
  const nowMs = preciseNow()
  await generator.run({ startMs: nowMs, measureFromMs: nowMs, endMs: nowMs }, signal)
  expect((await generator.sample()).cpuShare).toBe(0)
  expect((await generator.result()).cpuShare).toBe(0)
  await generator.stop()
})

it('leaves users that do not close, and says which, and closes what they share', async () => {
  let calls = 0
  closeUser = () => (calls++ === 0 ? Promise.resolve() : new Promise(() => {}))
  const generator = new LocalGenerator('here')
  await generator.open(plan, {} as UserPlace, { index: 0, of: 1 }, new AbortController().signal)
  expect(await stoppedAfter(generator, closeUsersMs, ['user'])).toEqual(['user 1'])
  expect(closed).toEqual(['user', 'shared'])
})

/** What is unclosed so many milliseconds after it is stopped; until then, `closedBefore` has been closed. */
async function stoppedAfter(generator: LocalGenerator, ms: number, closedBefore: readonly string[] = []) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const stopping = generator.stop()
    await vi.advanceTimersByTimeAsync(ms - 1)
    expect(closed).toEqual(closedBefore)
    await vi.advanceTimersByTimeAsync(1)
    return await stopping
  } finally {
    vi.useRealTimers()
  }
}

/** Resolves once so many users are being opened, with how opening them ends. */
async function opensUsers(generator: LocalGenerator, of = 2): Promise<{ readonly ended: Promise<unknown> }> {
  const { promise: allOpening, resolve } = Promise.withResolvers<void>()
  const wait = opening
  let count = 0
  opening = () => {
    if (++count === of) resolve()
    return wait()
  }
  const open = generator.open(plan, {} as UserPlace, { index: 0, of: 1 }, new AbortController().signal)
  const ended = open.catch((error: unknown) => (error as Error).name)
  await allOpening
  return { ended }
}

it('waits for users that open although they were called off, and closes them before what they share', async () => {
  opening = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  const generator = new LocalGenerator('here')
  const { ended } = await opensUsers(generator)
  expect(await generator.stop()).toEqual([])
  expect(await ended).toBe('AbortError')
  expect(closed).toEqual(['user', 'user', 'shared'])
})

it('says which users have not joined', async () => {
  opening = () => new Promise(() => {})
  const generator = new LocalGenerator('here')
  const { ended } = await opensUsers(generator)
  expect(await generator.missing()).toEqual(['user 0 has not joined', 'user 1 has not joined'])
  await stoppedAfter(generator, closeUsersMs)
  expect(await ended).toBe('AbortError')
})

it('has nothing to close of users that cannot be opened, and says which neither open nor give up', async () => {
  let calls = 0
  opening = () =>
    calls++ === 0 ? new Promise(() => {}) : Promise.resolve().then(() => Promise.reject(new Error('no')))
  const generator = new LocalGenerator('here')
  const { ended } = await opensUsers(generator)
  expect(await stoppedAfter(generator, closeUsersMs)).toEqual(['user 0'])
  expect(await ended).toBe('AbortError')
  expect(closed).toEqual(['shared'])
})

it('closes what users share also when that was being opened, and opens no users', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  openingShared = () => promise
  opening = () => expect.unreachable()
  const generator = new LocalGenerator('here')
  const open = generator.open(plan, {} as UserPlace, { index: 0, of: 1 }, new AbortController().signal)
  const stopped = generator.stop()
  resolve()
  await expect(open).rejects.toMatchObject({ name: 'AbortError' })
  expect(await stopped).toEqual([])
  expect(closed).toEqual(['shared'])
})
