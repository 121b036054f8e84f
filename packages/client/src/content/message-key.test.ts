import { keyTagExtension, type StreamMessage } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { textMessage } from './content.testkit.ts'
import { decodeMessage } from './decode.ts'
import { encodeContent } from './encode.ts'
import { splitHeaders } from './headers.ts'
import { tagOfKey } from './message-key.ts'

const { streamId } = textMessage(1)

/** As it travels: with the key beside its content, under a tag. */
function keyed(key: string | undefined, tag: Uint8Array | undefined): StreamMessage {
  const { contentType, bytes: content } = encodeContent('21.5', { unit: 'C' }, key)
  const extensions = tag && [{ type: keyTagExtension, bytes: tag }]
  return { ...textMessage(1), contentType, content, extensions }
}

describe('the key of a message', () => {
  it('comes out as it went in, and is no header', () => {
    const message = decodeMessage(keyed('kitchen', tagOfKey(streamId, 'kitchen')))
    expect(message).toMatchObject({ key: 'kitchen', headers: { unit: 'C' }, content: '21.5' })
    expect(Object.keys(message.headers)).toEqual(['unit'])
  })

  it.each([
    ['another key than its tag says', 'kitchen', tagOfKey(streamId, 'cellar')],
    ['a key without a tag', 'kitchen', undefined],
    ['a tag without a key', undefined, tagOfKey(streamId, 'kitchen')],
  ])('is refused: %s', (_, key, tag) => {
    const refusal = expect.objectContaining({ code: 'MESSAGE_KEY_MISMATCH' })
    expect(() => decodeMessage(keyed(key, tag))).toThrow(refusal)
  })

  it('is not known of what is raw and closed', () => {
    const sealed = { ...keyed('kitchen', tagOfKey(streamId, 'kitchen')), encryptionType: 2 }
    expect(decodeMessage(sealed, { raw: true }).key).toBeUndefined()
  })

  it.each([[''], ['é'.repeat(129)], ['\ud800'], [7], [null]])('cannot be %j', (key) => {
    const refusal = expect.objectContaining({ code: 'INVALID_MESSAGE_KEY' })
    expect(() => encodeContent(1, {}, key as string)).toThrow(refusal)
  })

  it('may have 256 bytes, beside 31 headers, none of which has its name', () => {
    const key = 'é'.repeat(128)
    const headers = Object.fromEntries(Array.from({ length: 31 }, (_, i) => [`h${i}`, '']))
    const { contentType, bytes: content } = encodeContent(1, headers, key)
    expect(splitHeaders({ contentType, content, encryptionType: 0 })).toMatchObject({ key, headers })
    const refusal = expect.objectContaining({ code: 'INVALID_HEADERS' })
    expect(() => encodeContent(1, { ':key': 'a' })).toThrow(refusal)
  })
})
