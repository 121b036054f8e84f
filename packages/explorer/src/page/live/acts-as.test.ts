import { describe, expect, it } from 'vitest'
import { userOfFiles } from './acts-as.ts'

const key = 'ab'.repeat(32)
const delegation = { privateKey: `0x${key}`, delegation: '0x0102' }
const readingKey = { userId: `0x${'c'.repeat(40)}`, generation: 1, secret: `0x${key}` }
const file = (content: object) => `${JSON.stringify({ version: 1, ...content }, undefined, 2)}\n`

describe('the user of key files', () => {
  it('is who has the key, or who signed the delegation', () => {
    expect(userOfFiles([`${key}\n`])).toEqual({ privateKey: key })
    expect(userOfFiles([file(delegation)])).toEqual({ delegation })
    expect(userOfFiles([file(readingKey), file(delegation)])).toEqual({ delegation, readingKey })
    const withCard = { ...readingKey, card: '0x07' }
    expect(userOfFiles([key, file(withCard)])).toEqual({ privateKey: key, readingKey: withCard })
  })

  it.each([
    ['no file', []],
    ['another file', ['<html>']],
    ['no object', ['null']],
    ['a reading key alone', [file(readingKey)]],
    ['another version', [JSON.stringify({ version: 2, ...delegation })]],
    ['a keystore', [file({ crypto: {} })]],
  ])('is not known from %s', (_, texts) => {
    expect(() => userOfFiles(texts)).toThrow(expect.objectContaining({ code: 'NO_KEY_FILE' }))
  })

  it.each([
    ['a key and a delegation', [key, file(delegation)]],
    ['two keys', [key, 'cd'.repeat(32)]],
    ['two delegations', [file(delegation), file({ ...delegation, delegation: '0x03' })]],
    ['two reading keys', [key, file(readingKey), file({ ...readingKey, generation: 2 })]],
  ])('are not one of %s', (_, texts) => {
    expect(() => userOfFiles(texts)).toThrow(expect.objectContaining({ code: 'KEY_FILES_APART' }))
  })

  it('does not quote a key that is wrong', () => {
    expect(() => userOfFiles([`${key}00`])).toThrow(/^no such files$/)
  })
})
