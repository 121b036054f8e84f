import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../messages/plain-json.testkit.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

function written(write: (writer: Writer) => void): Uint8Array {
  const writer = new Writer()
  write(writer)
  return writer.view()
}

const malformed = expect.objectContaining({ code: 'MALFORMED_PACKET' })
const tooLarge = expect.objectContaining({ code: 'LIMIT_EXCEEDED' })

describe('integers', () => {
  it('are big endian', () => {
    const bytes = written((writer) => {
      writer.u8(0x01)
      writer.u16(0x0203)
      writer.u32(0x84050607)
      writer.u48(0xf8090a0b0c0d)
    })
    expect(toHex(bytes)).toBe('01020384050607f8090a0b0c0d')
    const reader = new Reader(bytes)
    expect([reader.u8(), reader.u16(), reader.u32(), reader.u48()]).toEqual([
      1, 0x203, 0x84050607, 0xf8090a0b0c0d,
    ])
    reader.end()
  })

  it.each([-1, 256, 1.5, Number.NaN])('refuse to write %d as a byte', (value) => {
    expect(() => written((writer) => writer.u8(value))).toThrow(malformed)
  })

  it('are not read beyond the end, and a failed read does not move', () => {
    const reader = new Reader(fromHex('010203'))
    expect(() => reader.u32()).toThrow(malformed)
    expect(reader.offset).toBe(0)
    expect(reader.u16()).toBe(0x102)
  })
})

describe('a writer', () => {
  it.each([0, 1, 3, 4, 5, 8, 27])('copies %d bytes of others', (length) => {
    const bytes = Uint8Array.from({ length: 40 }, (_, i) => i)
    const copied = written((writer) => writer.few(new DataView(bytes.buffer, 2), 3, 3 + length))
    expect(copied).toEqual(bytes.subarray(5, 5 + length))
  })
})

describe('varint', () => {
  it.each([
    [0, '00'],
    [127, '7f'],
    [128, '8001'],
    [300, 'ac02'],
    [2 ** 32, '8080808010'],
    [Number.MAX_SAFE_INTEGER, 'ffffffffffffff0f'],
  ])('%d is %s', (value, hex) => {
    expect(toHex(written((writer) => writer.varint(value)))).toBe(hex)
    expect(new Reader(fromHex(hex)).varint()).toBe(value)
  })

  it.each([
    ['a needless byte', '8000'],
    ['a needless byte after others', 'ff8000'],
    ['2^53', '8080808080808010'],
    ['more bytes than 53 bits take', '808080808080808001'],
    ['no last byte', 'ff'],
    ['nothing', ''],
  ])('refuses %s', (_, hex) => {
    expect(() => new Reader(fromHex(hex)).varint()).toThrow(malformed)
  })

  it('gives back every number', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (value) => {
        const reader = new Reader(written((writer) => writer.varint(value)))
        expect(reader.varint()).toBe(value)
        reader.end()
      }),
    )
  })
})

describe('text', () => {
  it('gives back every well-formed string', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(new Reader(written((writer) => writer.text(text, 1000, 'text'))).text(1000, 'text')).toBe(text)
      }),
    )
  })

  it('keeps a byte order mark', () => {
    expect(new Reader(written((writer) => writer.text('\ufeffa', 10, 'text'))).text(10, 'text')).toBe(
      '\ufeffa',
    )
  })

  it.each(['01ff', '02c080', '03eda080'])('refuses %s, which is not UTF-8', (hex) => {
    expect(() => new Reader(fromHex(hex)).text(10, 'text')).toThrow(malformed)
  })

  it('counts bytes against the limit, on both sides', () => {
    expect(() => written((writer) => writer.text('åä', 3, 'text'))).toThrow(tooLarge)
    expect(() => new Reader(fromHex('0461626364')).text(3, 'text')).toThrow(tooLarge)
    expect(new Reader(fromHex('03616263')).text(3, 'text')).toBe('abc')
  })

  it('is printable where it is ASCII, on both sides', () => {
    for (const text of ['\n', '\u007f', 'å']) {
      expect(() => written((writer) => writer.ascii(text, 10, 'text'))).toThrow(malformed)
    }
    expect(() => new Reader(fromHex('010a')).ascii(10, 'text')).toThrow(malformed)
    expect(() => new Reader(fromHex('0480616263')).shortAscii(10, 'text')).toThrow(malformed)
    expect(new Reader(fromHex('02207e')).ascii(10, 'text')).toBe(' ~')
    for (const expected of ['', ' ~', ' a', ' ~~'])
      expect(new Reader(fromHex('02207e')).shortAscii(10, 'text', expected)).toBe(' ~')
    expect(() => new Reader(fromHex('0220')).shortAscii(10, 'text', ' ~')).toThrow(malformed)
  })
})

describe('byte strings', () => {
  it('are views of what is read', () => {
    const bytes = fromHex('01020304')
    const view = new Reader(bytes).view(3)
    expect(view.buffer).toBe(bytes.buffer)
  })

  it('are plain also when read from a Buffer', () => {
    expect(new Reader(Buffer.from('01020304', 'hex')).view(2).constructor).toBe(Uint8Array)
  })

  it('outgrow the first buffer of the writer', () => {
    const writer = new Writer()
    for (let i = 0; i < 100; i++) writer.raw(new Uint8Array(1000).fill(i))
    expect(writer.offset).toBe(100_000)
    expect(Array.from({ length: 100 }, (_, i) => writer.view()[i * 1000 + 999])).toEqual([
      ...Array(100).keys(),
    ])
    writer.reset()
    expect(writer.view()).toHaveLength(0)
  })
})

describe.each<[string, (writer: Writer) => void]>([
  ['u8', (writer) => writer.u8(0xab)],
  ['u48', (writer) => writer.u48(0xabcdef012345)],
  ['varint', (writer) => writer.varint(2 ** 40 + 1)],
  ['text', (writer) => writer.text('grün', 10, 'a text')],
  ['shortAscii', (writer) => writer.shortAscii('green', 10, 'a text')],
  ['raw', (writer) => writer.raw(Uint8Array.of(1, 2, 3))],
])('%s', (_, write) => {
  it('is whole wherever the buffer of the writer has to grow', () => {
    const alone = toHex(written(write))
    const firstBufferBytes = 4096
    for (let before = firstBufferBytes - 10; before <= firstBufferBytes; before++) {
      const bytes = written((writer) => {
        writer.raw(new Uint8Array(before))
        write(writer)
      })
      expect(toHex(bytes.subarray(before))).toBe(alone)
    }
  })
})
