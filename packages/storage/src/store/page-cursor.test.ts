import fc from 'fast-check'
import { nodeIdFromBytes } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { fromCursor, toCursor } from './page-cursor.ts'

const ref = fc.record({
  timestamp: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
  sequenceNumber: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
})
const place = fc.record({
  first: ref,
  last: ref,
  publisherId: fc.uint8Array({ minLength: 20, maxLength: 20 }).map(nodeIdFromBytes),
  messageChainId: fc.stringMatching(/^[ -~]{0,32}$/),
})

describe('a page cursor', () => {
  it('brings back the place it was made of', () => {
    fc.assert(
      fc.property(place, (one) => {
        expect(fromCursor(toCursor(one))).toEqual(one)
      }),
    )
  })

  it.each([
    '',
    'x',
    '1.2.3.4',
    `1.2.3.4.0x${'a'.repeat(40)}.zz`,
    `${'9'.repeat(16)}.2.3.4.0x${'a'.repeat(40)}.`,
  ])('refuses %j', (text) => {
    expect(() => fromCursor(text)).toThrow(expect.objectContaining({ code: 'STORE_CURSOR_INVALID' }))
  })
})
