import { afterEach, expect, it, vi } from 'vitest'
import { nodeError } from '../../errors.ts'
import type { Target } from '../network/target.ts'
import type { BenchRequest, BenchRun } from './run-bench.ts'
import { withBench, type RunArguments } from './run-command.ts'

vi.mock('./open-target.ts', async (original) => ({
  ...(await original<object>()),
  openTarget: () => Promise.resolve({ stop: () => Promise.resolve() } as unknown as Target),
}))
vi.mock('./run-bench.ts', async (original) => ({
  ...(await original<object>()),
  runBench: ({ onUnclosed }: BenchRun) => Promise.resolve(onUnclosed(['here: user 1'])),
}))
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const args = {
  ...{ users: 'light', links: 'websocket', clients: 2, processes: 1, listen: '127.0.0.1', encrypt: false },
  json: true,
} as RunArguments

it.each([
  [nodeError('BENCH_TIMEOUT', 'while sending; there:1 does not answer'), 'there:1 does not answer'],
  [new Error('aborted'), 'while generators start'],
])('says what was missing when its time was up', async (error, text) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const run = withBench(args, { parts: 1, storage: false, boundMs: 1 }, () => {
    vi.runOnlyPendingTimers()
    return Promise.reject(error)
  })
  await expect(run).rejects.toMatchObject({ code: 'BENCH_TIMEOUT', message: expect.stringContaining(text) })
})

it('names users that did not close, and ends the process if they hold it', async () => {
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never)
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const bench = withBench(args, { parts: 1, storage: false, boundMs: 1_000 }, async ({ run }) => {
    await run({ clients: 2 } as BenchRequest)
    vi.useFakeTimers()
  })
  await bench
  expect(written.mock.calls.flat()).toContain('runnel: did not close: here: user 1\n')
  expect(exit).not.toHaveBeenCalled()
  vi.runOnlyPendingTimers()
  expect(exit).toHaveBeenCalledOnce()
})
