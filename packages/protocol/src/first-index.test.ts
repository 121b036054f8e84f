import fc from 'fast-check'
import { expect, it } from 'vitest'
import { firstIndex } from './first-index.ts'

it('finds what a look at all of them finds', () => {
  const ascending = fc.array(fc.nat(20)).map((numbers) => numbers.sort((a, b) => a - b))
  fc.assert(
    fc.property(ascending, fc.nat(21), fc.nat(5), (items, least, skipped) => {
      const start = Math.min(skipped, items.length)
      const at = items.slice(start).findIndex((item) => item >= least)
      expect(firstIndex(items, (item) => item >= least, start)).toBe(at < 0 ? items.length : start + at)
    }),
  )
})
