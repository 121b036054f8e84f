import { expect, it, vi } from 'vitest'
import { closeSharedMs, closeUsersMs } from '../core/budget.ts'
import type { LoadPlan } from '../core/plan.ts'
import type { UserPlace } from '../users/user.ts'
import { LocalGenerator } from './local-generator.ts'
import { preciseNow } from './metronome.ts'

let usedUs = 0
let closeUser = () => Promise.resolve()
vi.spyOn(process, 'cpuUsage').mockImplementation((since = { user: 0, system: 0 }) => ({
  user: usedUs - since.user,
  system: 0,
}))
vi.mock('../users/open-factory.ts', () => ({
  openFactory: () =>
    Promise.resolve({
      leavesOut: '',
      open: () => {
        usedUs += 1_000_000
        const user = { dropped: () => undefined, stop: closeUser }
        return Promise.resolve(user)
      },
      stop: () => Promise.resolve(),
    }),
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
  const limits = [new AbortController(), new AbortController()]
  const timeout = vi
    .spyOn(AbortSignal, 'timeout')
    .mockImplementation(() => (limits.shift() ?? expect.unreachable()).signal)
  const [hung] = limits
  let closed = 0
  closeUser = () => {
    setImmediate(() => hung?.abort())
    return closed++ === 0 ? Promise.resolve() : new Promise(() => {})
  }
  const generator = new LocalGenerator('here')
  await generator.open(plan, {} as UserPlace, { index: 0, of: 1 }, new AbortController().signal)
  expect(await generator.stop()).toEqual(['user 1'])
  expect(timeout.mock.calls).toEqual([[closeUsersMs], [closeSharedMs]])
})
