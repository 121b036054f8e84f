import { describe, expect, it } from 'vitest'
import { checkCounts, count, counted } from './counts.ts'

const options = {
  rounds: count(3),
  settle: count(30, 'seconds', { min: 0, max: 100 }),
  parts: { type: 'array' as const, number: true as const, default: [1], ...counted() },
  seed: { type: 'string' as const },
}
const given = { limit: 60, rounds: 3, settle: 0, parts: [1, 100], seed: 'a' }

describe('checkCounts', () => {
  it('takes what is right', () => {
    expect(() => checkCounts(options, given)).not.toThrow()
    expect(() => checkCounts(options, { ...given, limit: 0.5 })).not.toThrow()
  })

  it.each([
    ...[0, -3, NaN, 100_000, '5'].map((limit) => ({ limit })),
    ...[0, -1, NaN, 1.5, 1e10, [1, 2]].map((rounds) => ({ rounds })),
    ...[-1, 101].map((settle) => ({ settle })),
    ...[[], [0], [1, NaN]].map((parts) => ({ parts })),
  ])('refuses %j', (wrong) => {
    const name = Object.keys(wrong)[0] ?? ''
    expect(() => checkCounts(options, { ...given, ...wrong })).toThrow(
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining(`--${name}`) as string,
      }),
    )
  })
})
