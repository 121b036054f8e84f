import { afterEach, expect, it, vi } from 'vitest'
import { nodeError } from '../../errors.ts'
import type { Target } from '../network/target.ts'
import { withBench, type RunArguments } from './run-command.ts'

vi.mock('./open-target.ts', async (original) => ({
  ...(await original<object>()),
  openTarget: () => Promise.resolve({ stop: () => Promise.resolve() } as unknown as Target),
}))
afterEach(() => vi.restoreAllMocks())

const args = {
  ...{ users: 'light', links: 'websocket', clients: 2, processes: 1, listen: '127.0.0.1', encrypt: false },
  json: true,
} as RunArguments

it.each([
  [nodeError('BENCH_TIMEOUT', 'while sending; there:1 does not answer'), 'there:1 does not answer'],
  [new Error('aborted'), 'while it began'],
])('says what was missing when its time was up', async (error, text) => {
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort())
  const run = withBench(args, { parts: 1, storage: false, boundMs: 1 }, () => Promise.reject(error))
  await expect(run).rejects.toMatchObject({ code: 'BENCH_TIMEOUT', message: expect.stringContaining(text) })
})
