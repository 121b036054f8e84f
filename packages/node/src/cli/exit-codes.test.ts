import { expect, it } from 'vitest'
import { exitCodeFor } from './exit-codes.ts'

it.each([
  ['BENCH_AIM_MISSED', 1],
  ['BENCH_WORKER_PORT', 69],
  ['BENCH_WORKER_UNREACHABLE', 69],
  ['BENCH_WORKER_REFUSED', 77],
  ['BENCH_CLOCKS_APART', 78],
  ['BENCH_TOKEN_MISSING', 78],
  ['BENCH_TOO_FEW_FILES', 78],
  ['BENCH_BROWSER_MISSING', 78],
  ['FILE_UNWRITABLE', 78],
])('tells a missed aim from a bench that cannot run: %s is %i', (code, exit) =>
  expect(exitCodeFor(code)).toBe(exit),
)

it('is the one of what is not available, where no storage node answers', () => {
  expect(['CARDS_UNAVAILABLE', 'NO_STORAGE_NODE'].map(exitCodeFor)).toEqual([69, 69])
})
