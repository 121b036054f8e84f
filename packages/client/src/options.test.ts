import { expect, it } from 'vitest'
import { checkOptions } from './options.ts'

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
