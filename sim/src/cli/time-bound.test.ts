import { expect, it } from 'vitest'
import { beginBound, progressWithin } from './time-bound.ts'

it('ends what takes longer, saying how far it came', () => {
  let nowMs = 5_000
  const onProgress = progressWithin({ minutes: 2, nowMs: () => nowMs })
  nowMs += 120_000
  onProgress('second 3')
  nowMs += 1
  expect(() => onProgress('second 4')).toThrow(
    expect.objectContaining({
      code: 'TOO_SLOW',
      message: expect.stringContaining('second 4, after 2 min') as string,
    }),
  )
})

it.each([0, 1.5, Number.NaN, 100_000])('refuses --minutes %d', (minutes) => {
  expect(() => beginBound({ minutes })).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
})
