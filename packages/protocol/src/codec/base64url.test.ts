import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fromBase64Url, toBase64Url } from './base64url.ts'

it('is what the platform makes of the same bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(toBase64Url(bytes)).toBe(Buffer.from(bytes).toString('base64url'))
      expect(fromBase64Url(toBase64Url(bytes))).toEqual(bytes)
    }),
  )
})

it('is read in its one form only', () => {
  for (const text of ['A', 'AB', 'AA=', 'A A', '+A']) expect(fromBase64Url(text)).toBeUndefined()
})
