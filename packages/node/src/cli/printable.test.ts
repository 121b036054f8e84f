import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { printable, printableJson } from './printable.ts'

/** What moves a terminal's cursor or hides text in it. */
const hostile = [
  ...Array.from({ length: 0x20 }, (_, code) => code),
  ...Array.from({ length: 0x21 }, (_, i) => 0x7f + i),
  // Bidirectional marks, embeddings, overrides and isolates; zero-width characters; separators; tags.
  ...[0x61c, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e],
  ...[0x2060, 0x2066, 0x2067, 0x2068, 0x2069, 0xfeff, 0xe0001, 0xe0041],
].map((code) => String.fromCodePoint(code))

describe('printable', () => {
  it('replaces every character that a terminal would obey or that would hide others', () => {
    for (const character of hostile) expect(printable(`a${character}b`)).toBe('a�b')
  })

  it('leaves text of any language', () => {
    for (const text of ['Grüße, мир, 世界 🎉', 'שלום', 'e\u0301']) expect(printable(text)).toBe(text)
  })
})

describe('printableJson', () => {
  it('holds none of them, and means the same', () => {
    for (const character of hostile) {
      const json = printableJson({ [character]: character })
      expect(hostile.filter((it) => json.includes(it))).toEqual([])
      expect(JSON.parse(json)).toEqual({ [character]: character })
    }
  })

  it('means the same as what was written, whatever it is', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        expect(JSON.parse(printableJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })
})
