import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toBase64Url } from './base64url.ts'

it('is what the platform makes of the same bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(toBase64Url(bytes)).toBe(Buffer.from(bytes).toString('base64url'))
    }),
  )
})
