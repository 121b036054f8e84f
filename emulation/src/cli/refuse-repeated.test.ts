import { expect, it } from 'vitest'
import { refuseRepeated } from './refuse-repeated.ts'

it('refuses an option that is given twice, unless it is a list', () => {
  expect(refuseRepeated({ _: ['sessions'], worker: ['a:1', 'b:2'], nodes: '4' })).toBe(true)
  const repeated = () => refuseRepeated({ _: ['propagation'], nodes: ['4', '5'] })
  expect(repeated).toThrow(
    expect.objectContaining({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('--nodes is given more than once'),
    }),
  )
})
