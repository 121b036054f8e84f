import { describe, expect, it } from 'vitest'
import { contentOf, kindOfMediaType } from './content.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

describe('the content of a message', () => {
  it.each([
    ['application/json', 'json'],
    ['application/geo+json; charset=utf-8', 'json'],
    ['text/csv', 'text'],
    [undefined, 'binary'],
    ['application/x-ndjson', 'ndjson'],
  ])('that is %s is %s', (mediaType, kind) => expect(kindOfMediaType(mediaType)).toBe(kind))

  it.each(['application/x-www-form-urlencoded', 'image/png', '', 'json'])('is not %j', (mediaType) =>
    expect(() => kindOfMediaType(mediaType)).toThrow(
      expect.objectContaining({ code: 'GATEWAY_CONTENT_TYPE' }),
    ),
  )

  it.each([
    ['', 1],
    ['{"a": secret}', 7],
    ['[1,]', 4],
    ['{} {}', 4],
    ['{"a":1', 7],
    ['// secret\n1', 1],
  ])('%j is no JSON from character %i on, and is not quoted', (text, place) =>
    expect(() => contentOf(bytes(text), 'json')).toThrow(
      expect.objectContaining({
        code: 'INPUT_INVALID',
        message: expect.stringMatching(new RegExp(`^(?!.*secret).*from character ${place} on`)),
      }),
    ),
  )

  it('is JSON as it is written, whatever its numbers are in JavaScript; a string is text', () => {
    const json = bytes('{"id": 12345678901234567890, "far": 1e400, "price": 1.0}')
    expect(contentOf(json, 'json')).toEqual({ content: json, bytesAre: 'json' })
    expect(contentOf(bytes('"a"'), 'json')).toEqual({ content: 'a' })
  })

  it('is UTF-8 where it is text', () => {
    expect(contentOf(bytes('grüezi'), 'text')).toEqual({ content: 'grüezi' })
    expect(() => contentOf(new Uint8Array([0xff]), 'text')).toThrow('not UTF-8')
  })
})
