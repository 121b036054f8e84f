import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { pageCiphers } from '../ciphers/page-ciphers.ts'
import { nodeCiphers } from '../ciphers/node-ciphers.ts'
import { toStreamId } from '../ids/stream-id.ts'
import { isRemoval, keyTagIn, keyTagOf, keyTagText } from './message-key.ts'

const streamId = toStreamId(`0x${'ab'.repeat(20)}/sensors`)
const bytes = new Uint8Array(16).fill(7)

describe('the tag of a key', () => {
  it('is what the protocol says, on every platform', () => {
    const hash = createHash('sha256').update(`runnel message key\0${streamId}\0küche`).digest()
    const tag = new Uint8Array(hash.subarray(0, 16))
    expect(keyTagOf(nodeCiphers, streamId, 'küche')).toEqual(tag)
    expect(keyTagOf(pageCiphers, streamId, 'küche')).toEqual(tag)
    expect(Buffer.from(tag).toString('hex')).toBe('42943744ed79578d6d07e602e5044207')
  })

  it('differs by stream and by key', () => {
    const other = toStreamId(`0x${'ab'.repeat(20)}/sensors2`)
    const tags = [keyTagOf(nodeCiphers, streamId, 'a'), keyTagOf(nodeCiphers, streamId, 'b'), keyTagOf(nodeCiphers, other, 'a')] // prettier-ignore
    expect(new Set(tags.map(String)).size).toBe(3)
  })

  it('is found among the extensions of a message', () => {
    expect(keyTagIn({ extensions: [{ type: 0, bytes }, { type: 1, bytes }] })).toBe(bytes) // prettier-ignore
    expect(keyTagText({ extensions: [{ type: 1, bytes }] })).toBe(`0x${'07'.repeat(16)}`)
    expect(keyTagIn({ extensions: undefined })).toBeUndefined()
    expect(keyTagText({ extensions: [{ type: 2, bytes }] })).toBe('')
  })

  it('of another length says nothing', () => {
    expect(keyTagIn({ extensions: [{ type: 1, bytes: bytes.subarray(1) }] })).toBeUndefined()
  })
})

it('a removal is told by its extension', () => {
  expect(isRemoval({ extensions: [{ type: 1, bytes }, { type: 2, bytes: new Uint8Array() }] })).toBe(true) // prettier-ignore
  expect(isRemoval({ extensions: [{ type: 1, bytes }] })).toBe(false)
})
