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
