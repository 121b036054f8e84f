import { expect, it } from 'vitest'
import { checkOptions, checkTimeout } from './options.ts'

const check = (options: unknown) => () => checkOptions('subscribe', options, { raw: true, signal: true })

it('takes what there is, and refuses what there is not, with what there is', () => {
  for (const options of [{}, { raw: true }, { signal: undefined, raw: false }])
    expect(check(options)).not.toThrow()
  expect(check({ rwa: true })).toThrow(
    expect.objectContaining({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('subscribe has no option "rwa"; it has raw, signal'),
    }),
  )
  for (const options of [null, 1, 'raw'])
    expect(check(options)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
})

it('takes a time to wait, without an end too, and no number that is none', () => {
  expect([1, 0.5, Infinity].map(checkTimeout)).toEqual([1, 0.5, Infinity])
  for (const timeoutMs of [NaN, 0, -1, '5' as unknown as number])
    expect(() => checkTimeout(timeoutMs)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
})
