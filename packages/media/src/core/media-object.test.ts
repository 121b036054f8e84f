import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeObject, encodeObject, maxTimestampUs, type MediaObject } from './media-object.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const data = fc.uint8Array({ minLength: 1, maxLength: 50 })
const head = {
  track: fc.integer({ min: 0, max: 255 }),
  timestampUs: fc.integer({ min: 0, max: maxTimestampUs }),
}
const objects = fc.oneof(
  fc.record({ kind: fc.constant('audio' as const), ...head, level: fc.integer({ min: 0, max: 127 }), data }),
  fc
    .record({
      ...{ kind: fc.constant('video' as const), ...head, temporalLayer: fc.integer({ min: 0, max: 3 }) },
      ...{ dependency: fc.integer({ min: 0, max: 255 }), data },
    })
    .map((object): MediaObject => ({ ...object, isKey: object.dependency === 0 })),
)

describe('a media object', () => {
  it('has the bytes that are documented', () => {
    const audio = { kind: 'audio', track: 7, timestampUs: 0x0102_0304_0506, level: 30 } as const
    expect(hex(encodeObject({ ...audio, data: Uint8Array.of(0xaa, 0xbb) }))).toBe(
      '0007010203040506' + '1e' + 'aabb',
    )
    const video = {
      kind: 'video',
      track: 2,
      timestampUs: 1,
      isKey: false,
      temporalLayer: 2,
      dependency: 3,
    } as const
    expect(hex(encodeObject({ ...video, data: Uint8Array.of(0xcc) }))).toBe(
      '0102000000000001' + '0403' + 'cc',
    )
  })

  it('is decoded to what was encoded', () => {
    fc.assert(
      fc.property(objects, (object) => {
        expect(decodeObject(encodeObject(object))).toEqual(object)
      }),
    )
  })

  it('is nothing when it is cut or made up, and never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const object = decodeObject(bytes)
        if (object !== undefined) expect(encodeObject(object)).toEqual(bytes)
      }),
    )
    for (const text of [
      '',
      '00',
      '0007010203040506ff00',
      '0102000000000001' + '0103' + 'cc',
      '0200000000000000000000',
    ])
      expect(decodeObject(Buffer.from(text, 'hex')), text).toBeUndefined()
  })
})
