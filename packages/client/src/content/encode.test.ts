import {
  ContentType,
  EncryptionType,
  limits,
  toNodeId,
  toStreamId,
  type StreamMessage,
} from '@runnel/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeMessage } from './decode.ts'
import { encodeContent } from './encode.ts'
import { maxJsonDepth } from './json-depth.ts'

const publisherId = toNodeId(`0x${'1'.repeat(40)}`)

function messageOf(content: Uint8Array, contentType: number, encryptionType = 0): StreamMessage {
  return {
    streamId: toStreamId(`${publisherId}/a`),
    partition: 0,
    publisherId,
    messageChainId: 'chain',
    timestamp: 1,
    sequenceNumber: 0,
    previous: undefined,
    contentType,
    encryptionType,
    groupKeyId: '',
    content,
  }
}

function roundTrip(content: unknown): unknown {
  const { bytes, contentType } = encodeContent(content)
  return decodeMessage(messageOf(bytes, contentType)).content
}

describe('content', () => {
  it('comes out as it went in', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        if (typeof value !== 'string') expect(roundTrip(value)).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => void expect(roundTrip(text)).toBe(text)))
    fc.assert(fc.property(fc.uint8Array(), (bytes) => void expect(roundTrip(bytes)).toEqual(bytes)))
  })

  it('may be bytes that are JSON or text, as they are written', () => {
    const spaced = new TextEncoder().encode('{ "t": 21 }')
    const json = encodeContent(spaced, undefined, undefined, 'json')
    expect(json).toMatchObject({ contentType: ContentType.json, bytes: spaced })
    expect(decodeMessage(messageOf(json.bytes, json.contentType)).content).toEqual({ t: 21 })
    expect(decodeMessage(messageOf(json.bytes, json.contentType), { asBytes: true }).content).toEqual(spaced)
    expect(encodeContent(spaced, undefined, undefined, 'text').contentType).toBe(ContentType.text)
    for (const [content, are] of [
      [Uint8Array.of(0xff), 'text'],
      [Uint8Array.of(0x7b), 'json'],
      ['{}', 'json'],
    ] as const)
      expect(() => encodeContent(content, undefined, undefined, are)).toThrow(
        expect.objectContaining({ code: 'INVALID_CONTENT' }),
      )
  })

  it('may be JSON as deep as anybody can walk, and no deeper', () => {
    const deep = (depth: number) => '[{"a":'.repeat(depth / 2) + String.raw`"]}\"["` + '}]'.repeat(depth / 2)
    const [fits, tooDeep] = [deep(maxJsonDepth), deep(maxJsonDepth + 2)]
    const flat = `["${String.raw`[\"{\\`.repeat(maxJsonDepth)}",${'[{}],'.repeat(maxJsonDepth)}0]`
    const bytes = (text: string) => new TextEncoder().encode(text)
    for (const text of [fits, flat]) {
      expect(JSON.stringify(roundTrip(JSON.parse(text)))).toBe(text)
      expect(encodeContent(bytes(text), undefined, undefined, 'json').bytes).toEqual(bytes(text))
    }
    expect(() => roundTrip(JSON.parse(tooDeep))).toThrow(expect.objectContaining({ code: 'INVALID_CONTENT' }))
    expect(() => encodeContent(bytes(tooDeep), undefined, undefined, 'json')).toThrow(
      expect.objectContaining({ code: 'INVALID_CONTENT' }),
    )
    expect(() => decodeMessage(messageOf(bytes(tooDeep), ContentType.json))).toThrow(
      expect.objectContaining({ code: 'INVALID_JSON_CONTENT' }),
    )
  })

  it('is a copy: the caller may reuse its buffer', () => {
    const buffer = Buffer.from([1, 2, 3])
    const { bytes } = encodeContent(buffer)
    buffer.fill(0)
    expect(bytes).toEqual(Uint8Array.of(1, 2, 3))
  })

  it('may have a mebibyte, and not a byte more', () => {
    expect(encodeContent(new Uint8Array(limits.maxContentBytes)).bytes.length).toBe(limits.maxContentBytes)
    for (const content of [
      new Uint8Array(limits.maxContentBytes + 1),
      'ä'.repeat(limits.maxContentBytes / 2 + 1),
    ]) {
      expect(() => encodeContent(content)).toThrow(expect.objectContaining({ code: 'MESSAGE_TOO_LARGE' }))
    }
  })

  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic
  it('says where the value is that it cannot carry', () => {
    expect(() => encodeContent({ readings: [{ celsius: 21 }, { celsius: NaN }] })).toThrow(
      expect.objectContaining({
        code: 'INVALID_CONTENT',
        message: expect.stringContaining('NaN at .readings[1].celsius'),
      }),
    )
  })

  it.each([
    ['undefined', undefined],
    ['a function', () => 1],
    ['a bigint', 1n],
    ['a cycle', cyclic],
  ])('cannot be %s', (_, content) => {
    expect(() => encodeContent(content)).toThrow(expect.objectContaining({ code: 'INVALID_CONTENT' }))
  })
})

describe('hostile content', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  it.each([
    ['no JSON', bytes('{"secret'), ContentType.json, EncryptionType.none, 'INVALID_JSON_CONTENT'],
    [
      'JSON that is not UTF-8',
      Uint8Array.of(0x22, 0xff, 0x22),
      ContentType.json,
      EncryptionType.none,
      'INVALID_JSON_CONTENT',
    ],
    [
      'text that is not UTF-8',
      Uint8Array.of(0xff),
      ContentType.text,
      EncryptionType.none,
      'INVALID_TEXT_CONTENT',
    ],
    ['something encrypted', bytes('{}'), ContentType.json, EncryptionType.aes256gcm, 'ENCRYPTED_CONTENT'],
  ])('such as %s has its code, and is not quoted', (_, content, contentType, encryptionType, code) => {
    const message = messageOf(content, contentType, encryptionType)
    expect(() => decodeMessage(message)).toThrow(
      expect.objectContaining({ code, message: expect.not.stringContaining('secret') }),
    )
    expect(decodeMessage(message, { raw: true }).content).toEqual(content)
  })

  it('of an unknown type is bytes', () => {
    expect(decodeMessage(messageOf(bytes('a'), 37))).toMatchObject({
      contentType: 'unknown',
      content: bytes('a'),
    })
  })
})
