import { ContentType, EncryptionType } from '@runnel/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeContent } from './encode.ts'
import { splitHeaders } from './headers.ts'

const json = { contentType: ContentType.json, bytes: new Uint8Array([0x31]) }
const none = EncryptionType.none
const split = (contentType: number, content: Uint8Array) =>
  splitHeaders({ contentType, encryptionType: none, content })

describe('headers', () => {
  it('come out as they went in, with any content', () => {
    const name = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)), minLength: 1, maxLength: 64 }) // prettier-ignore
    const value = fc.string({ unit: 'grapheme', maxLength: 20 })
    fc.assert(
      fc.property(fc.dictionary(name, value, { maxKeys: 32 }), fc.string(), (headers, text) => {
        const { contentType, bytes } = encodeContent(text, headers)
        const found = split(contentType, bytes)
        expect({ ...found.headers }).toEqual({ ...headers })
        expect(found.contentType).toBe(ContentType.text)
        expect(new TextDecoder().decode(found.content)).toBe(text)
      }),
    )
  })

  it('have the layout that the protocol says', () => {
    const { contentType, bytes } = encodeContent(7, { b: 'é', a: '' })
    expect(contentType).toBe(0x40 + ContentType.json)
    expect(Buffer.from(bytes).toString('hex')).toBe(['02', '016100', '016202c3a9', '37'].join(''))
  })

  it('cost nothing where there are none', () => {
    expect(encodeContent(1, {})).toEqual(json)
    expect(split(json.contentType, json.bytes).headers).toEqual({})
  })

  it('may have names that objects use themselves', () => {
    const headers = Object.fromEntries([['__proto__', 'a']])
    const { contentType, bytes } = encodeContent(1, headers)
    expect(Object.entries(split(contentType, bytes).headers)).toEqual([['__proto__', 'a']])
  })

  it.each<[string, Record<string, unknown>]>([
    ['an empty name', { '': 'a' }],
    ['a name with a line break', { 'a\nb': 'a' }],
    ['a name beyond ASCII', { é: 'a' }],
    ['a long name', { ['a'.repeat(65)]: 'a' }],
    ['a long value', { a: 'é'.repeat(513) }],
    ['half a character', { a: '\ud800' }],
    ['a number', { a: 1 }],
    ['too many', Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`h${i}`, '']))],
  ])('refuses %s', (_, headers) => {
    expect(() => encodeContent(1, headers as Record<string, string>)).toThrow(
      expect.objectContaining({ code: 'INVALID_HEADERS' }),
    )
  })

  it.each([
    ['no header', '00'],
    ['more than are allowed', '21'],
    ['a truncated name', '010561'],
    ['a truncated value', '0101610561'],
    ['a value that is no text', '01016101ff'],
    ['names out of order', '020162000161 00'],
    ['a name twice', '02016100016100'],
    ['an empty name', '010000'],
  ])('of a message are refused: %s', (_, hex) => {
    const bytes = new Uint8Array(Buffer.from(hex.replaceAll(' ', ''), 'hex'))
    expect(() => split(0x41, bytes)).toThrow(expect.objectContaining({ code: 'INVALID_HEADERS' }))
  })

  it('of a content that is encrypted or compressed are not looked for', () => {
    const content = new Uint8Array([0])
    expect(splitHeaders({ contentType: 0x41, encryptionType: 1, content })).toMatchObject({ contentType: 0x41, headers: {} }) // prettier-ignore
    expect(split(0xc1, content)).toMatchObject({ contentType: 0xc1, headers: {} })
  })
})
