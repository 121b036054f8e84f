import { expect, it } from 'vitest'
import { mistakeInOptions, type OptionNames } from './option-names.ts'

const names: OptionNames<{ readonly fromMs?: number; readonly toMs?: number }> = { fromMs: true, toMs: true }

it.each([
  [{}, undefined],
  [{ toMs: 1 }, undefined],
  [{ toMS: 1 }, 'open has no option "toMS"; it has fromMs, toMs'],
  [{ toString: 1 }, 'open has no option "toString"; it has fromMs, toMs'],
  [undefined, 'open takes an object of options'],
  [null, 'open takes an object of options'],
  ['toMs', 'open takes an object of options'],
])('of %j: %s', (options, mistake) => {
  expect(mistakeInOptions('open', options, names)).toBe(mistake)
})

it.each([
  [{ isRaw: 1 }, 'isRaw of read must be true or false'],
  [{ onGap: 5 }, 'onGap of read must be a function'],
  [{ signal: {} }, 'signal of read must be an AbortSignal'],
  [{ from: -1 }, 'from of read must be a whole number from 0'],
  [{ from: 1.5 }, 'from of read must be a whole number from 0'],
  [{ isRaw: undefined, onGap: () => {}, signal: AbortSignal.abort(), from: 0 }, undefined],
])('which say what their values must be, of %o: %s', (options, mistake) => {
  const kinds = { isRaw: 'boolean', onGap: 'function', signal: 'signal', from: 'whole' } as const
  expect(mistakeInOptions('read', options, kinds)).toBe(mistake)
})
